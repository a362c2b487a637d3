import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { RegistrationRequest } from '../../../schema/requests/registration.ts';
import type { Context } from '../../context.ts';
import { forgetAnswer } from '../../receipt/index.ts';
import { issueSession } from '../possession/issue.ts';
import { controlledWallet } from './admit.ts';
import type { RegistrationAnswer } from './registration.paid.ts';

/** A registration found by the wallet that asks, or by the task id that it names. */
export interface Registered {
  readonly agent_id: AgentId;
  readonly wallet: string;
  readonly task_id: string;
  readonly validate_score: number | null;
}

export type Recovery =
  | { readonly kind: 'same'; readonly registered: Registered }
  | { readonly kind: 'other_payer' }
  | { readonly kind: 'other_task' }
  | { readonly kind: 'unregistered' };

/** The receipt that registered an agent was paid by its wallet, so the agent's own record says whose receipt it is. */
export function judgeRecovery(found: readonly Registered[], wallet: string, task_id: string): Recovery {
  const underTask = found.find(registered => registered.task_id === task_id);
  if (underTask && underTask.wallet !== wallet) return { kind: 'other_payer' };
  if (underTask) return { kind: 'same', registered: underTask };
  return found.some(registered => registered.wallet === wallet) ? { kind: 'other_task' } : { kind: 'unregistered' };
}

/** Same wallet, same task, a fresh signature: a NEW session, and the one before it ends. Costs nothing. */
export async function recoverRegistration(
  request: RegistrationRequest,
  task_id: string,
  context: Context,
): Promise<RegistrationAnswer> {
  const { wallet } = controlledWallet(request, context.clock.now_ms());
  const found = await context.database.query<Registered & Record<string, unknown>>({
    name: 'registered under',
    text: 'select agent_id, wallet, task_id, validate_score from agent where wallet = $1 or task_id = $2',
    values: [wallet, task_id],
  });
  const recovery = judgeRecovery(found, wallet, task_id);
  switch (recovery.kind) {
    case 'other_payer':
      throw new Refusal('payer_mismatch', { param: 'task_id' });
    case 'other_task':
      throw new Refusal('wallet_registered', { param: 'task_id' });
    case 'unregistered':
      throw new Refusal('receipt_not_qualifying', { param: 'task_id' });
    case 'same': {
      const { agent_id, validate_score } = recovery.registered;
      const session = await context.database.transaction(async tx => {
        // The stamp's stored answer names the session that ends here.
        await forgetAnswer(tx, task_id);
        return issueSession(tx, agent_id, context);
      });
      return { agent_id, agentWallet: wallet, session, task_id, validate_score };
    }
  }
}
