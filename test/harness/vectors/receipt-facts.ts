import type { ReceiptPayment } from '../../../schema/receipt-shapes.ts';
import type { ReceiptFacts } from '../../../subgraphs/receipt/receipt/receipt-facts.ts';

/** An ordinary paid call: the facts of its receipt before it is appended to the log. */
export const paidCall: ReceiptFacts = {
  task_id: 'task_01jd3x8z5v9k2m4n6p8q0r2s4t',
  issued_at: '2026-01-02T03:04:05.678Z',
  hub: 'north',
  model: 'small-1',
  job_kind: 'completions',
  request_hash: 'a'.repeat(64),
  agent_id: 7,
  caller_binding: { payer_wallet: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' },
  intent_id: 'intent-1',
  attempt_index: 0,
  fulfillment: {
    job_kind: 'completions',
    resource: null,
    intent_id: 'intent-1',
    attempt_index: 0,
    output_commitment: { status: 'committed', hash: 'b'.repeat(64), kind: 'sha256', omission_rule: null },
  },
  settled_by: 'observed_transfer',
  payment: {
    ref: `base:0x${'c'.repeat(64)}`,
    transfer_index: 3,
    network: 'base',
    rail: 'usdc',
    asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    gross_amount: '2000',
    settled_amount: '2000',
    payer: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    pay_to: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
    payment_id: `0x${'d'.repeat(64)}`,
  },
  profile: 'development',
};

/** A payment to another service that was found on its chain. A book signs it in place of a payment to this service. */
export const foreignPayment = {
  observed_transfer: {
    network: 'base',
    rail: 'usdc',
    asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    transaction: `0x${'d'.repeat(64)}`,
    index: 5,
    payer: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    pay_to: '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
    amount: '1500000',
  },
  payer_proven: true,
} as const satisfies ReceiptFacts['chained'];

/** The same call, authorised by a key: without payment, wallet and book. */
export const waivedCall: ReceiptFacts = {
  ...paidCall,
  task_id: 'task_01jd3x8z5v9k2m4n6p8q0r2s5v',
  agent_id: null,
  caller_binding: { api_key_hash: 'e'.repeat(64) },
  intent_id: null,
  attempt_index: null,
  settled_by: null,
  payment: null,
  waived_by: 'live_key',
  profile: 'production',
};

const { payment } = paidCall as ReceiptFacts & { readonly payment: ReceiptPayment };

/** A job with two payments: one to its winner, and the fee. */
export const twoLegCall: ReceiptFacts = {
  ...paidCall,
  task_id: 'task_01jd3x8z5v9k2m4n6p8q0r2s6w',
  hub: 'svc',
  model: 'board',
  payment,
  legs: [
    {
      leg: 'payee',
      ref: payment.ref,
      transfer_index: payment.transfer_index,
      network: payment.network,
      asset: payment.asset,
      payer: payment.payer,
      pay_to: payment.pay_to,
      amount: payment.settled_amount,
    },
    {
      leg: 'fee',
      ref: `base:0x${'f'.repeat(64)}`,
      transfer_index: 3,
      network: 'base',
      asset: payment.asset,
      payer: payment.payer,
      pay_to: '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
      amount: '2020',
    },
  ],
};
