import type { AgentId } from '../../../schema/ids.ts';
import { webhookLimits } from '../../../schema/limits.ts';
import type { DeadLetterPage } from '../../../schema/requests/webhook.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Database } from '../../database.ts';
import { WebhookDeadLetter } from './dead-letter.entity.ts';

export interface DeadLettersPage {
  readonly deadLetters: readonly WebhookDeadLetter[];
  readonly next: string | null;
}

const { dead_letters_page_max, dead_letters_page_default } = webhookLimits;

/** The newest event first; `before` is the `next` of the page before. */
export async function deadLetters(
  database: Database,
  agent_id: AgentId,
  asked: DeadLetterPage,
): Promise<DeadLettersPage> {
  const limit = Math.min(asked.limit ?? dead_letters_page_default, dead_letters_page_max);
  const [position = null, kind = null] = asked.before?.split('.') ?? [];
  const rows = await database.query({
    name: 'webhook dead letters',
    text: `select ${selectList(WebhookDeadLetter)} from webhook_dead_letter
      where agent_id = $1 and ($2::int8 is null or (position, kind) < ($2::int8, $3))
        and given_up_at > now() - make_interval(days => ${webhookLimits.dead_letter_days})
      order by position desc, kind desc limit $4`,
    values: [agent_id, position, kind, limit + 1],
  });
  const found = rows.slice(0, limit).map(row => asEntity(WebhookDeadLetter, row));
  const last = found.at(-1);
  return { deadLetters: found, next: last && rows.length > limit ? `${last.position}.${last.kind}` : null };
}
