/**
 * What is fixed on the local chain. It stands in for Base Sepolia: same chain id, the test token at the address of its
 * USDC, so that clients pay it as they would pay there. The keys are the development keys that every local chain of
 * this kind funds; they are public, and worth nothing anywhere else.
 */
export interface Account {
  readonly address: `0x${string}`
  readonly key: `0x${string}`
}

export const chainId = 84_532
export const token = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'

/** Sends the service's transactions; has ether, no token. */
export const hotWallet: Account = {
  address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  key: '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
}

/** The example payer, with 1,000 play dollars at every start. */
export const payer: Account = {
  address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  key: '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
}

/** Whom callers pay; sends nothing itself. */
export const payTo = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
