import type { z } from 'zod';
import type { CompletionAnswer } from '../../../rest-compat/board/inbound-doors.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { Service } from './open-service.ts';
import { sendUsdc } from './reconciliations.ts';

export type CompletionResult = z.infer<typeof CompletionAnswer> & JsonObject;

let completions = 0;

/** A valid report of a completion, with a new external id. */
export const completionReport = (members: JsonObject = {}): JsonObject => ({
  source: 'acp.example',
  external_id: `job-${++completions}`,
  payer: `0x${'1'.repeat(40)}`,
  payee: `0x${'2'.repeat(40)}`,
  amount: '90000',
  payment_tx: `0x${completions.toString(16).padStart(64, 'a')}`,
  output_hash: 'ab'.repeat(32),
  ...members,
});

/** A report of a completion whose payment is on the chain. */
export async function paidCompletion({ chain }: Pick<Service, 'chain'>, members: JsonObject = {}) {
  const [payer, payee] = [await chain.newWallet(), await chain.newWallet()];
  const { tx_hash, log_index } = await sendUsdc(chain, payer.address, payee.address, 90_000n);
  const said = completionReport({ payer: payer.address, payee: payee.address, payment_tx: tx_hash, ...members });
  return { said, tx_hash, log_index, payer, payee };
}
