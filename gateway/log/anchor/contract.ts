import { keccak256 } from '../../../schema/digest.ts';
import { networks } from '../../../schema/network.ts';
import { type TreeHeadFacts } from '../../../subgraphs/receipt/log/tree-head.ts';
import { bytes, type Hex, hex, keccakText, selector, words } from '../../rails/base/abi.ts';

/**
 * LogAnchor.sol by solc 0.8.34 (cancun, optimizer with 1,000,000 runs, no metadata), as it is handed to CREATE2; a test
 * compiles the source again and compares.
 */
export const creationCode: Hex = `0x${[
  '6080604052348015600e575f5ffd5b5060c680601a5f395ff3fe6080604052348015600e575f5ffd5b50600436106026575f3560e01c80633c',
  'b3c6e314602a575b5f5ffd5b603960353660046087565b603b565b005b6040805167ffffffffffffffff8416815260208101839052849133',
  '917f74d0e3e3bac5e7932e82911537dcc88ceead6e11d5520f33c62ce6dcc21d551b910160405180910390a3505050565b5f5f5f60608486',
  '0312156098575f5ffd5b83359250602084013567ffffffffffffffff8116811460b5575f5ffd5b92959294505050604091909101359056',
].join('')}`;

const SALT = '00'.repeat(32);

/** Of whatever code is sent to the deployment proxy (EIP-1014): the same on every chain. */
export const LOG_ANCHOR: Hex = createdAt(networks.base.deployment_proxy);

/** What the deployment proxy is sent, once per chain, by whoever anchors there first. */
export const deployment = { to: networks.base.deployment_proxy, data: `0x${SALT}${creationCode.slice(2)}` as Hex };

export const anchoredTopic = keccakText('Anchored(address,uint256,uint64,bytes32)');
const anchorSelector = selector('anchor(uint256,uint64,bytes32)');

export function anchorCall({ log_id, tree_size, root_hash }: TreeHeadFacts) {
  return { to: LOG_ANCHOR, data: `0x${anchorSelector}${words(log_id, tree_size, `0x${root_hash}`)}` as Hex };
}

/** Of one transaction: more than twice what each took (README), should gas be counted otherwise one day. Unused gas is not paid. */
export const gasLimits = { anchor: 80_000, deployment: 240_000 } as const;

function createdAt(deployer: Hex): Hex {
  const code_hash = Buffer.from(keccak256(bytes(creationCode)));
  const name = Buffer.concat([Buffer.from('ff', 'hex'), bytes(deployer), Buffer.from(SALT, 'hex'), code_hash]);
  return hex(keccak256(name).subarray(12));
}
