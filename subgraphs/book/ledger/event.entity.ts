import { GraphQLJSONObject } from 'graphql-scalars';
import { Field, Int, ObjectType } from 'type-graphql';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { BookEventKind } from '../../../schema/evidence.ts';
import { DateTimeScalar } from '../../../schema/scalars.ts';
import { Entity, Index, PrimaryKey, Property } from '../../table.ts';
import { ShownAlert, shownAlert } from '../alerts/alert.type.ts';
import { ShownDispute, shownDispute } from '../dispute/dispute-event.type.ts';
import { ShownWouldBlock, shownWouldBlock } from '../policy/would-block.type.ts';
import { ShownGivenUp, shownGivenUp } from './given-up.type.ts';
import { BookRow } from './row.entity.ts';
import { BookEventKindWord } from './row-words.ts';

/**
 * What happened on a book, in order: gapless `position`, each hash over the one before it. Written in the transaction
 * of the fact itself, so this table is the outbox of webhooks and live rows.
 */
@ObjectType('BookRowEvent', {
  description: 'Something that happened on a book: to a row, or to what its owner allows.',
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
  @Field(() => Int, { description: 'Whose book.' })
  @PrimaryKey({ type: 'integer', autoincrement: false })
  agentId!: number;
  @Field(() => Int, { description: 'Its place among the events of the book: from 1, without a gap.' })
  @PrimaryKey({ type: 'integer', autoincrement: false })
  position!: number;
  @Field(() => BookEventKindWord, { description: 'What happened.' })
  @Property({ type: 'text' })
  kind!: BookEventKind;
  @Field(() => Int, { nullable: true, description: 'The place of its row in the book; null where it is of none.' })
  @Property({ type: 'integer', nullable: true })
  seq!: number | null;
  @Field(() => String, { nullable: true, description: 'The call that its row is of; null where it is of none.' })
  @Property({ type: 'text', nullable: true })
  taskId!: string | null;
  @Field(() => GraphQLJSONObject, {
    description: 'What is said of it, as it stands in the book for ever; `hash` covers it.',
  })
  @Property({ type: 'json' })
  body!: JsonObject;
  @Field(() => DateTimeScalar, { description: 'When it happened.' })
  @Property({ type: 'Date', columnType: 'timestamptz' })
  at!: Date;
  @Field(() => String, { description: '`hash` of the event before it; empty for the first.' })
  @Property({ type: 'text' })
  prevHash!: string;
  @Field(() => String, {
    description:
      'SHA-256 of the canonical JSON (RFC 8785) of {agent_id, position, kind, seq, task_id, body, at, prev_hash}.',
  })
  @Property({ type: 'text' })
  hash!: string;
  @Field(() => Int, {
    description: 'How many it stands for: what happens to a row too often is counted, and told once a minute.',
  })
  get count(): number {
    return typeof this.body.count === 'number' ? this.body.count : 1;
  }
  @Field(() => ShownAlert, { nullable: true, description: 'What an `alert` tells; null of all else.' })
  get alert(): ShownAlert | null {
    return this.kind === 'alert' ? shownAlert(this) : null;
  }
  @Field(() => ShownWouldBlock, { nullable: true, description: 'What a `would_block` tells; null of all else.' })
  get wouldBlock(): ShownWouldBlock | null {
    return this.kind === 'would_block' ? shownWouldBlock(this.body) : null;
  }
  @Field(() => ShownDispute, { nullable: true, description: 'What a `dispute` tells; null of all else.' })
  get dispute(): ShownDispute | null {
    return this.kind === 'dispute' ? shownDispute(this.body) : null;
  }
  @Field(() => GraphQLJSONObject, {
    nullable: true,
    description: 'What an `escrow` tells: which ledger escrow, its phase, and what came along; null of all else.',
  })
  get escrow(): JsonObject | null {
    return this.kind === 'escrow' ? this.body : null;
  }
  @Field(() => ShownGivenUp, {
    nullable: true,
    description:
      'Amount that a `transition` removed from the row. Null for a transition to `collected` and for all other kinds.',
  })
  get givenUp(): ShownGivenUp | null {
    return this.kind === 'transition' ? shownGivenUp(this.body) : null;
  }
  /** The row as it stands when the event is read. */
  @Field(() => BookRow, {
    nullable: true,
    description: 'The row as it stands when the event is read; null where it is of none.',
  })
  row!: BookRow | null;
}
