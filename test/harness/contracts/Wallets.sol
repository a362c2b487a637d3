// SPDX-License-Identifier: MIT
pragma solidity 0.8.34;

/// Contract wallets in as much as a payment asks of them: what they take for a signature (ERC-1271).
abstract contract Wallet {
    bytes4 internal constant VALID = 0x1626ba7e;
    bytes4 internal constant INVALID = 0xffffffff;

    function isValidSignature(bytes32 digest, bytes calldata signature) external view virtual returns (bytes4);

    function signerOf(bytes32 digest, bytes calldata signature) internal pure returns (address) {
        if (signature.length != 65) return address(0);
        return ecrecover(digest, uint8(signature[64]), bytes32(signature[0:32]), bytes32(signature[32:64]));
    }
}

abstract contract OwnedWallet is Wallet {
    address public immutable owner;
    bool public off;

    constructor(address owner_) {
        owner = owner_;
    }

    /// From now on no signature is good.
    function switchOff() external {
        require(msg.sender == owner, "not the owner");
        off = true;
    }
}

/// Takes its owner's signature as it is: 65 bytes, like a key's, and yet no key's of this address.
contract PlainWallet is OwnedWallet {
    constructor(address owner_) OwnedWallet(owner_) {}

    function isValidSignature(bytes32 digest, bytes calldata signature) external view override returns (bytes4) {
        return !off && signerOf(digest, signature) == owner ? VALID : INVALID;
    }
}

/// Takes its owner's signature behind one byte that names it: 66 bytes.
contract TaggedWallet is OwnedWallet {
    constructor(address owner_) OwnedWallet(owner_) {}

    function isValidSignature(bytes32 digest, bytes calldata signature) external view override returns (bytes4) {
        if (off || signature.length != 66 || signature[0] != 0x01) return INVALID;
        return signerOf(digest, signature[1:]) == owner ? VALID : INVALID;
    }
}

/// Takes its owner's signature behind one byte that says what is made of it, however right it is.
contract MoodyWallet is OwnedWallet {
    constructor(address owner_) OwnedWallet(owner_) {}

    function isValidSignature(bytes32 digest, bytes calldata signature) external view override returns (bytes4) {
        if (signature.length != 66 || signerOf(digest, signature[1:]) != owner) return INVALID;
        bytes1 mood = signature[0];
        if (mood == 0x02) revert("not today");
        if (mood == 0x03) assembly { invalid() }
        // The magic value of the draft of ERC-1271, which took bytes for a digest.
        if (mood == 0x04) return 0x20c13b0b;
        if (mood == 0x05) assembly { return(0, 0) }
        if (mood == 0x06) assembly { mstore(0, 1) return(0, 32) }
        return VALID;
    }
}

/// What an account may delegate to (EIP-7702): the tagged signature of the account's own key.
contract Delegate is Wallet {
    function isValidSignature(bytes32 digest, bytes calldata signature) external view override returns (bytes4) {
        if (signature.length != 66 || signature[0] != 0x01) return INVALID;
        return signerOf(digest, signature[1:]) == address(this) ? VALID : INVALID;
    }
}

/// Says yes to whatever it is asked, as long as no gas is paid for; then it burns all it is given.
contract FeeBurner is Wallet {
    function isValidSignature(bytes32, bytes calldata) external view override returns (bytes4) {
        if (tx.gasprice > 0) assembly { invalid() }
        return VALID;
    }
}

/// Says yes as long as the chain stands still: in a simulation. In the block that takes the payment it burns all it is given.
contract Burner is Wallet {
    uint256 public armed_at;

    function arm() external {
        armed_at = block.number;
    }

    function isValidSignature(bytes32, bytes calldata) external view override returns (bytes4) {
        if (block.number > armed_at) assembly { invalid() }
        return VALID;
    }
}

/// Burns all it is given whoever asks.
contract OpenBurner is Wallet {
    function isValidSignature(bytes32, bytes calldata) external pure override returns (bytes4) {
        assembly { invalid() }
    }
}

/// Answers with far more than was asked.
contract Talker is Wallet {
    function isValidSignature(bytes32, bytes calldata) external pure override returns (bytes4) {
        assembly { return(0, 200000) }
    }
}

/// Makes tagged wallets at addresses that are known before; one that stands is given back as it is (ERC-4337 wants that).
contract WalletFactory {
    function addressOf(address owner, bytes32 salt) public view returns (address) {
        bytes32 code = keccak256(abi.encodePacked(type(TaggedWallet).creationCode, abi.encode(owner)));
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), salt, code)))));
    }

    function make(address owner, bytes32 salt) external returns (TaggedWallet) {
        address made = addressOf(owner, salt);
        if (made.code.length > 0) return TaggedWallet(made);
        return new TaggedWallet{salt: salt}(owner);
    }
}

/// In the place of Chainlink's feed and of an OP-stack chain's oracle: says what stands in its storage.
contract Prices {
    int256 public answer;
    uint256 public updated_at;
    uint256 public l1_fee;

    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        return (7, answer, updated_at, updated_at, 7);
    }

    function getL1FeeUpperBound(uint256) external view returns (uint256) {
        return l1_fee;
    }
}

/// Takes any call and makes nothing.
contract IdleFactory {
    uint256 public calls;

    fallback() external {
        calls++;
    }
}
