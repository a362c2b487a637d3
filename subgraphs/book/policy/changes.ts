import type { TermsEventKind } from '../../../schema/book/event.ts';
import type { Json, JsonObject } from '../../../schema/canonical-json.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { INT_MAX } from '../../../schema/limits.ts';
import type { BookPolicy, PolicyType } from '../../../schema/policy-kinds.ts';
import type { ProvenBy } from '../../../schema/principal.ts';
import type { Database } from '../../database.ts';
import type { Policies } from './set.ts';

/* Changes of policies and budget, and the policies in force at a given time, both read from the events of the book. */

/** Body of the event of a change, see ../ledger/terms.ts. */
interface TermsBody {
  /** Type of the changed policy. Absent if the budget was changed. */
  readonly policy_type?: PolicyType;
  readonly policy?: BookPolicy;
  /** Absent if no policy is in shadow mode. */
  readonly shadow?: BookPolicy;
  /** Absent if the policy is enforced. */
  readonly mode?: 'shadow';
  readonly before: Json;
  readonly after: Json;
  readonly policy_version: number;
  readonly by: { readonly by: ProvenBy['by']; readonly session: string } | null;
}

export interface TermsEvent {
  readonly position: number;
  readonly kind: TermsEventKind;
  readonly at: Date;
  readonly body: TermsBody;
}

const EVENTS = `select position, kind, at, body from book_event
  where agent_id = $1 and kind in ('policy_changed', 'budget_changed')`;

/** Changes of a book, newest first. If `before` is a position, only earlier ones. */
export function termsEvents(
  database: Database,
  agent_id: AgentId,
  { before, limit }: { readonly before: number | null; readonly limit: number },
): Promise<TermsEvent[]> {
  const text = `${EVENTS} and position < coalesce($2::int, ${INT_MAX}) order by position desc limit $3`;
  return database.query<TermsEvent & JsonRow>({ name: 'terms events', text, values: [agent_id, before, limit] });
}

type JsonRow = Readonly<Record<string, unknown>>;

/**
 * Policies of a book at a time. For a time before the first recorded change, these are the values before that change. Null if no
 * change was ever recorded, so that the current policies apply.
 */
export async function policiesAt(database: Database, agent_id: AgentId, at: Date): Promise<Policies | null> {
  const changed = `${EVENTS} and kind = 'policy_changed'`;
  const [last] = await database.query<TermsEvent & JsonRow>({
    name: 'policy at',
    text: `${changed} and at <= $2 order by position desc limit 1`,
    values: [agent_id, at.toISOString()],
  });
  if (last) return policiesOf(last.body);
  const text = `${changed} order by position limit 1`;
  const [first] = await database.query<TermsEvent & JsonRow>({ name: 'first policy', text, values: [agent_id] });
  if (!first) return null;
  const { policy_type = '', before, mode } = first.body;
  const { policy, shadow } = policiesOf(first.body);
  return mode === 'shadow'
    ? { policy, shadow: withBefore(shadow, policy_type, before) }
    : { policy: withBefore(policy, policy_type, before), shadow };
}

function policiesOf({ policy = {}, shadow = {} }: TermsBody): Policies {
  return { policy, shadow };
}

function withBefore(policy: BookPolicy, policy_type: string, before: Json): BookPolicy {
  const others = Object.fromEntries(Object.entries(policy as JsonObject).filter(([name]) => name !== policy_type));
  return (before === null ? others : { ...others, [policy_type]: before }) as BookPolicy;
}
