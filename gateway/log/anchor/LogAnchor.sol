// SPDX-License-Identifier: MIT
pragma solidity 0.8.34;

/// Puts heads of append-only logs where nobody can take them back. It keeps nothing, and anybody may call it: a head is
/// worth as much as the key of its sender, which every node indexes.
contract LogAnchor {
    event Anchored(address indexed sender, uint256 indexed log_id, uint64 tree_size, bytes32 root_hash);

    function anchor(uint256 log_id, uint64 tree_size, bytes32 root_hash) external {
        emit Anchored(msg.sender, log_id, tree_size, root_hash);
    }
}
