import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import solc from 'solc';
import { decodeEventLog, encodeFunctionData, getContractAddress, type Hex, parseAbi, toEventSelector } from 'viem';
import { expect, it } from 'vitest';
import { usdcAdmin } from '../../../../gateway/development/chain/accounts.ts';
import {
  anchorCall,
  anchoredTopic,
  creationCode,
  deployment,
  gasLimits,
  LOG_ANCHOR,
} from '../../../../gateway/log/anchor/anchor-chain.ts';
import { networks } from '../../../../schema/network.ts';
import { freshChain } from '../../../harness/chain.ts';
import { ROOT } from '../../../harness/root.ts';

const abi = parseAbi([
  'event Anchored(address indexed sender, uint256 indexed log_id, uint64 tree_size, bytes32 root_hash)',
  'function anchor(uint256 log_id, uint64 tree_size, bytes32 root_hash)',
]);
const head = { log_id: 1, tree_size: 70_000, root_hash: 'ab'.repeat(32) };

/** As anchor-chain.ts says that it was compiled. */
const settings = {
  evmVersion: 'cancun',
  optimizer: { enabled: true, runs: 1_000_000 },
  metadata: { appendCBOR: false, bytecodeHash: 'none' },
  outputSelection: { '*': { '*': ['evm.bytecode.object'] } },
};

interface Receipt {
  readonly gasUsed: string;
  readonly logs: readonly { readonly address: string; readonly topics: [Hex]; readonly data: Hex }[];
}

interface Output {
  readonly contracts: { 'LogAnchor.sol': { LogAnchor: { evm: { bytecode: { object: string } } } } };
}

it('the bytecode that is shipped is what its source compiles to', async () => {
  const content = await readFile(join(ROOT, 'gateway/log/anchor/LogAnchor.sol'), 'utf8');
  const input = { language: 'Solidity', sources: { 'LogAnchor.sol': { content } }, settings };
  const { contracts } = JSON.parse(solc.compile(JSON.stringify(input))) as Output;
  expect(`0x${contracts['LogAnchor.sol'].LogAnchor.evm.bytecode.object}`).toBe(creationCode);
});

it('address, call and topic are those that viem works out', () => {
  const from = networks.base.deployment_proxy;
  const create2 = getContractAddress({ opcode: 'CREATE2', from, salt: `0x${'00'.repeat(32)}`, bytecode: creationCode });
  expect(LOG_ANCHOR).toBe(create2.toLowerCase());
  const args = [1n, 70_000n, `0x${head.root_hash}`] as const;
  expect(anchorCall(head).data).toBe(encodeFunctionData({ abi, functionName: 'anchor', args }));
  expect(anchoredTopic).toBe(toEventSelector('Anchored(address,uint256,uint64,bytes32)'));
});

it('is made by whoever calls the proxy first, and says who anchored what, for the gas that the page of the room names', async () => {
  const chain = await freshChain();
  const send = async (call: { to: Hex; data: Hex }, gas: number) => {
    const sent = { from: usdcAdmin.address, to: call.to, data: call.data, gas: `0x${gas.toString(16)}` };
    const hash = await chain.call<string>('eth_sendTransaction', sent);
    const receipt = () => chain.call<Receipt | null>('eth_getTransactionReceipt', hash);
    // The node answers before it has mined.
    await expect.poll(receipt).not.toBeNull();
    return (await receipt()) as Receipt;
  };
  const deployed = await send(deployment, gasLimits.deployment);
  expect(await chain.call<string>('eth_getCode', LOG_ANCHOR, 'latest')).not.toBe('0x');
  const anchored = await send(anchorCall(head), gasLimits.anchor);
  expect(
    anchored.logs.map(({ address, topics, data }) => ({ address, ...decodeEventLog({ abi, topics, data }).args })),
  ).toEqual([
    {
      address: LOG_ANCHOR,
      sender: usdcAdmin.address,
      log_id: 1n,
      tree_size: 70_000n,
      root_hash: `0x${head.root_hash}`,
    },
  ]);
  expect([Number(deployed.gasUsed), Number(anchored.gasUsed)]).toEqual([96_570, 24_266]);
});
