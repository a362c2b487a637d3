import type { Tx } from '../../database.ts';
import { forgetAnswer } from '../../receipt/claim/transitions.ts';

/** Response of a registration as stored for a replay. The charge seals it, because it contains the session. */
export type RegistrationAnswer = {
  readonly agent_id: number;
  readonly agentWallet: string;
  readonly session: string;
  readonly task_id: string;
  readonly validate_score: number | null;
};

export const REGISTRATION_FIELD = 'Mutation.registerAgent';

/**
 * Deletes the stored response of a stamp, because its session ends. Responses of other calls that registered their payer are kept.
 */
export function forgetRegistration(tx: Tx, task_id: string): void {
  forgetAnswer(tx, task_id, REGISTRATION_FIELD);
}

/** Deletes them for all agents, each found by its registering task, however many claims there are. */
export async function forgetRegistrations(tx: Tx): Promise<void> {
  await tx.query({
    text: `update payment_claim c set answer_box = null from agent a
      where c.task_id = a.task_id and c.field = $1 and c.answer_box is not null`,
    values: [REGISTRATION_FIELD],
  });
}
