import { atomicAmount } from '../../schema/amount.ts';
import { sha256Hex } from '../../schema/digest.ts';
import type { AgentId } from '../../schema/ids.ts';
import { type Collection } from '../../subgraphs/book/ledger/collect.ts';
import { type Issuer } from '../../subgraphs/receipt/issuer/signing-keys.ts';
import { prepareReceipt } from '../../subgraphs/receipt/receipt/issue.ts';
import type { ReceiptFacts } from '../../subgraphs/receipt/receipt/receipt-facts.ts';
import { collectedFactsOf } from '../harness/ledger/fixture.ts';
import { paidCall } from '../harness/vectors/receipt-facts.ts';

/** One collected call on a book, signed as in the service. Each number gives another call. */
export function collection(issuer: Issuer, agent_id: AgentId, number: number): Collection {
  const task_id = `task_${agent_id}_${number}`;
  const paid = { ref: `base:0x${sha256Hex(task_id)}`, transfer_index: 0 };
  const facts = { ...paidCall, task_id, agent_id, payment: { ...paidCall.payment, ...paid } } as ReceiptFacts;
  return {
    prepared: prepareReceipt(issuer, facts),
    landing: {
      agent_id,
      birth: {
        ...collectedFactsOf(task_id, number),
        payment_ref: paid.ref,
        transfer_index: 0,
        intent_id: null,
        fulfillment: paidCall.fulfillment,
      },
      reserved: atomicAmount(0n),
    },
  };
}
