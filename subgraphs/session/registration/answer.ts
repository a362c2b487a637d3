import type { Tx } from '../../database.ts';
import { forgetAnswer } from '../../receipt/claim/transitions.ts';

/** Response of a registration, as it is stored for a replay. The charge encrypts it, because it contains the session. */
export type RegistrationAnswer = {
  readonly agent_id: number;
  readonly agentWallet: string;
  readonly session: string;
  readonly task_id: string;
  readonly validate_score: number | null;
};

export const REGISTRATION_FIELD = 'Mutation.registerAgent';

/**
 * Deletes the stored response of the stamp that registered an agent, because the session in it ends. If another call registered the
 * agent, the response of that call is kept.
 */
export function forgetRegistration(tx: Tx, task_id: string): void {
  forgetAnswer(tx, task_id, REGISTRATION_FIELD);
}

/** Deletes the stored responses of stamps for all agents. Each is found by the task that registered the agent, without a scan of claims. */
export async function forgetRegistrations(tx: Tx): Promise<void> {
  await tx.query({
    text: `update payment_claim c set answer_box = null from agent a
      where c.task_id = a.task_id and c.field = $1 and c.answer_box is not null`,
    values: [REGISTRATION_FIELD],
  });
}
