import { parseAbi } from 'viem'
import multicall3 from './contracts/Multicall3.json' with { type: 'json' }
import testToken from './contracts/TestToken.json' with { type: 'json' }
import contractWallet from './contracts/ContractWallet.json' with { type: 'json' }

/** Where viem and other clients look for it on every chain. */
export const multicall3Address = '0xcA11bde05977b3631167028862bE2a173976CA11'

/** What tests and the local start call; `mint` is open to anyone, for this is play money. */
export const tokenAbi = parseAbi([
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function decimals() view returns (uint8)',
  'function balanceOf(address) view returns (uint256)',
  'function authorizationState(address, bytes32) view returns (bool)',
  'function mint(address to, uint256 value)',
  'function transfer(address to, uint256 value) returns (bool)',
  'function setBlacklisted(address account, bool listed)',
  'function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
])

export const tokenRuntime = hex(testToken.runtime)
export const multicall3Runtime = hex(multicall3.runtime)
/** Deploy it with its owner's address: `deployContract({ abi: contractWalletAbi, bytecode, args: [owner] })`. */
export const contractWalletCreation = hex(contractWallet.creation)
export const contractWalletAbi = parseAbi(['constructor(address owner)'])

function hex(text: string): `0x${string}` {
  if (!/^0x[0-9a-f]+$/.test(text)) throw new Error('no bytecode')
  return `0x${text.slice(2)}`
}
