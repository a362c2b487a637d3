import type { Tx } from '../../database.ts';
import { forgetAnswer } from '../../receipt/claim/transitions.ts';

/** What registering answers, as it is kept for a replay: sealed by the charge, because the session is in it. */
export type RegistrationAnswer = {
  readonly agent_id: number;
  readonly agentWallet: string;
  readonly session: string;
  readonly task_id: string;
  readonly validate_score: number | null;
};

export const REGISTRATION_FIELD = 'Mutation.registerAgent';

/** The stamp's stored answer names a session that ends. That of any other call which registered its payer is kept. */
export function forgetRegistration(tx: Tx, task_id: string): void {
  forgetAnswer(tx, task_id, REGISTRATION_FIELD);
}

/** The same of all agents: each is found by the task that has registered it, however many claims there are. */
export async function forgetRegistrations(tx: Tx): Promise<void> {
  await tx.query({
    text: `update payment_claim c set answer_box = null from agent a
      where c.task_id = a.task_id and c.field = $1 and c.answer_box is not null`,
    values: [REGISTRATION_FIELD],
  });
}
