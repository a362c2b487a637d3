import { ObjectType } from 'type-graphql';
import { parseAtomic } from '../../../schema/amount.ts';
import {
  type BookEventKind,
  BookEventNoun,
  GivenUpNoun,
  givenUpAmount,
  WouldBlockNoun,
} from '../../../schema/book/event.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { DisputeJudgedNoun } from '../../../schema/dispute/dispute.ts';
import type { MembersOf, ShowableAs } from '../../../schema/noun.ts';
import { objectType, showMembers, shownOf } from '../../graph-type.ts';
import { Entity, Index, PrimaryKey, Property } from '../../table.ts';
import { type ShownAlert, shownAlert } from '../alerts/alert.type.ts';
import type { BookRow } from './row.entity.ts';

objectType(
  'AmountGivenUp',
  'Amount that was removed from all sums of the book, because the transfer was not found.',
  GivenUpNoun,
);
objectType(
  'WouldBlock',
  'Refusal that a policy in shadow mode would have made: the rule, and the amounts it compared.',
  WouldBlockNoun,
);
objectType(
  'DisputeJudged',
  'Judgement of a dispute of a row: the claim and its outcome, as an event of the book records them.',
  DisputeJudgedNoun,
);

type EventMembers = MembersOf<typeof BookEventNoun>;
type BlockedBody = ShowableAs<typeof WouldBlockNoun>;
/** Body of a stored judgement. The first judgements were stored without `revision`. */
type JudgedBody = Omit<ShowableAs<typeof DisputeJudgedNoun>, 'revision'>;

/** Amount that a `transition` event removed. Null if it removed none. */
function shownGivenUp(body: JsonObject): EventMembers['givenUp'] {
  const amount = parseAtomic(givenUpAmount(body) ?? '');
  const { omission_rule } = body;
  if (amount === null) return null;
  return { amount, omissionRule: typeof omission_rule === 'string' ? omission_rule : null };
}

/**
 * An event of a book. Positions have no gaps, and each hash covers the hash of the event before it. Events are written in the
 * transaction of the fact that they record, so this table is the outbox of webhooks and live rows.
 */
@ObjectType('BookRowEvent', {
  description:
    'An event of a book: of a row, of the settings of its owner, or an act of another agent that concerns the owner.',
})
@Entity({ tableName: 'book_event' })
@Index({ name: 'book_event_row', properties: ['agentId', 'seq'] })
@Index({
  name: 'book_event_policy',
  properties: ['agentId', 'position'],
  where: "kind in ('policy_changed', 'budget_changed')",
})
@Index({
  name: 'book_event_alert',
  properties: ['agentId', 'kind', 'position'],
  where: "kind in ('alert', 'alerts_changed')",
})
export class BookEvent {
  @PrimaryKey({ type: 'integer', autoincrement: false }) agentId!: number;
  @PrimaryKey({ type: 'integer', autoincrement: false }) position!: number;
  @Property({ type: 'text' }) kind!: BookEventKind;
  @Property({ type: 'integer', nullable: true }) seq!: number | null;
  @Property({ type: 'text', nullable: true }) taskId!: string | null;
  @Property({ type: 'json' }) body!: JsonObject;
  @Property({ type: 'Date', columnType: 'timestamptz' }) at!: Date;
  @Property({ type: 'text' }) prevHash!: string;
  @Property({ type: 'text' }) hash!: string;
  /** Row of the event, as it is when the event is read. Null if the event has no row. */
  row!: BookRow | null;

  get count(): number {
    return typeof this.body.count === 'number' ? this.body.count : 1;
  }
  get alert(): ShownAlert | null {
    return this.kind === 'alert' ? shownAlert(this) : null;
  }
  get wouldBlock(): EventMembers['wouldBlock'] {
    return this.kind === 'would_block' ? shownOf(WouldBlockNoun, this.body as BlockedBody) : null;
  }
  get dispute(): EventMembers['dispute'] {
    if (this.kind !== 'dispute') return null;
    return shownOf(DisputeJudgedNoun, { revision: 1, ...(this.body as JudgedBody) });
  }
  get escrow(): JsonObject | null {
    return this.kind === 'escrow' ? this.body : null;
  }
  get givenUp(): EventMembers['givenUp'] {
    return this.kind === 'transition' ? shownGivenUp(this.body) : null;
  }
}
showMembers(BookEvent, BookEventNoun);
