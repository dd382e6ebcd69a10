// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

/// The least wallet that is a contract: what its owner signed, it has signed (ERC-1271). For tests of such payers.
contract ContractWallet {
    address public immutable owner;

    constructor(address owner_) {
        owner = owner_;
    }

    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        if (signature.length != 65) return 0xffffffff;
        bytes32 r = bytes32(signature[0:32]);
        bytes32 s = bytes32(signature[32:64]);
        address found = ecrecover(digest, uint8(signature[64]), r, s);
        return found != address(0) && found == owner ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
    }
}
