import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import type { z } from 'zod';
import type { ReconciliationNoun } from '../../../schema/book/reconciliation.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { networks } from '../../../schema/network.ts';
import type { TestChain } from '../chain.ts';
import { eventually } from '../faults/ground.ts';
import type { Service } from './open-service.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;
export type ReconciliationAnswer = Omit<z.infer<typeof ReconciliationNoun>, 'report'> & {
  readonly report: (JsonObject & z.infer<typeof ReconciliationNoun>['report']) | null;
};

const abi = parseAbi([
  'function transfer(address to, uint256 amount) returns (bool)',
  'function transferFrom(address from, address to, uint256 amount) returns (bool)',
]);

/** Sends USDC from a wallet without a call of the service. Resolves once the transfer is mined. */
export function sendUsdc(chain: TestChain, from: string, to: string, amount: bigint) {
  return callUsdc(chain, from, encodeFunctionData({ abi, functionName: 'transfer', args: [to as Hex, amount] }));
}

/**
 * Transfers an amount of zero from a wallet that did not agree, as EIP-20 allows any account to do. The event names that wallet as the
 * payer.
 */
export function sendNothingOf(chain: TestChain, from: string, to: string, sender: string) {
  const args = [from as Hex, to as Hex, 0n] as const;
  return callUsdc(chain, sender, encodeFunctionData({ abi, functionName: 'transferFrom', args }));
}

async function callUsdc(chain: TestChain, from: string, data: Hex) {
  await chain.call('anvil_impersonateAccount', from);
  await chain.call('anvil_setBalance', from, '0xde0b6b3a7640000');
  const tx_hash = await chain.call<string>('eth_sendTransaction', { from, to: networks.base.usdc, data });
  const receipt = await eventually(`${tx_hash} is mined`, () =>
    chain.call<{ blockNumber: string; logs: { logIndex: string }[] } | null>('eth_getTransactionReceipt', tx_hash),
  );
  return { tx_hash, block_number: Number(receipt.blockNumber), log_index: Number(receipt.logs[0]?.logIndex) };
}

export const newestBlock = async (chain: TestChain) => Number(await chain.call<string>('eth_blockNumber'));

/** Calls of the endpoints that start and read reconciliations. */
export function reconciliationDoorsOf(service: () => Service) {
  const path = ({ agent_id }: Pick<Agent, 'agent_id'>, beneath = '') =>
    `/v1/agents/${agent_id}/book/reconciliation${beneath}`;
  const one = ({ agent_id, session }: Pick<Agent, 'agent_id' | 'session'>, report_id: string) =>
    service().get<ReconciliationAnswer>(path({ agent_id }, `/${report_id}`), { 'X-SVC-Session': session });
  const start = (agent: Pick<Agent, 'agent_id' | 'session'>, body: JsonObject, headers = {}) =>
    service().post<ReconciliationAnswer>(path(agent), { session: agent.session, ...body }, headers);
  return {
    path,
    one,
    start,
    /** Waits until the report has ended, and returns it. */
    async ended(agent: Pick<Agent, 'agent_id' | 'session'>, report_id: string) {
      return eventually(`${report_id} ends`, async () => {
        const { body } = await one(agent, report_id);
        return body.state === 'running' ? null : body;
      });
    },
  };
}
