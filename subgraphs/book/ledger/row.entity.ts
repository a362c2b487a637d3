import { GraphQLJSONObject } from 'graphql-scalars';
import { Directive, Field, Int, ObjectType } from 'type-graphql';
import { Row } from '../../../schema/book/row.ts';
import { type RowColumn, type RowColumns, type RowFactName, rowFacts } from '../../../schema/book-row.ts';
import { camel } from '../../../schema/camel.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { arrivalStatuses, evidences, rowEvents, rowRecorders } from '../../../schema/evidence.ts';
import { policyCodeWords, policyTypeWords } from '../../../schema/policy.ts';
import { settledByWords } from '../../../schema/receipt-payload.ts';
import type { RowFact, RowGroup } from '../../../schema/row-fact.ts';
import { AtomicAmountScalar, DateTimeScalar } from '../../../schema/scalars.ts';
import type { Words } from '../../../schema/words.ts';
import { wordEnum } from '../../graph-enum.ts';
import { showsNoun } from '../../graph-type.ts';
import { AtomicAmountColumn, Entity, Index, PrimaryKey, Property, Unique } from '../../table.ts';

const described = {
  payment: 'Payment of a row: reference, rail and amount.',
  route:
    'Model and hub (model provider) of a row, and the model that the hub named, each null or empty if there is none.',
} as const satisfies Record<RowGroup, string>;

@ObjectType({ description: described.payment })
class RowPayment {}

@ObjectType({ description: described.route })
class RowRoute {}

const groups = { payment: RowPayment, route: RowRoute } as const satisfies Record<RowGroup, object>;

const Columns = class {} as new () => RowColumns;

/**
 * One row of a book. Its original facts never change. `rowHash` covers them, the row's seq and the hash of the row before it.
 * Evidence, arrival, replay count and omission follow from the row's events. The properties and fields come from
 * schema/book-row.ts: the columns, and getters for the members of `facts`.
 */
@ObjectType({
  description:
    'One row of a book: a paid or refused call, a payment to somebody else, an inflow, or a step of an escrow between agents.',
})
@Entity({ tableName: 'book_row' })
@Unique({ name: 'book_row_task', properties: ['agentId', 'taskId'] })
@Unique({ name: 'book_row_payment', properties: ['agentId', 'paymentRef', 'transferIndex'] })
@Index({ name: 'book_row_task_id', properties: ['taskId'] })
@Index({ name: 'book_row_intent_seq', properties: ['agentId', 'intentId', 'seq'] })
@Index({ name: 'book_row_evidence_seq', properties: ['agentId', 'evidence', 'seq'] })
@Index({
  name: 'book_row_parent',
  properties: ['agentId', 'parentRef', 'seq'],
  where: 'parent_ref is not null',
})
@Index({
  name: 'book_row_intent_evidence_seq',
  properties: ['agentId', 'intentId', 'evidence', 'seq'],
  where: 'intent_id is not null',
})
@Index({ name: 'book_row_given_up', properties: ['agentId', 'seq'], where: "arrival_status = 'unverified'" })
export class BookRow extends Columns {
  /** Corrections of the inflow, read with the row. Null if the row is not an inflow. */
  inflowCorrections?: readonly JsonObject[] | null;
  /** Number of these corrections, read with the row. Null if the row is not an inflow. */
  inflowCorrectionsCount?: number | null;
  /** Task id of the newest correction that merges this row, read with the row. Null if none does. */
  mergedBy?: string | null;
  /** Hash of the delegated session that made the call, read with the row. Null for a call without a session. */
  delegationHash?: string | null;

  /** Member of `facts` with this name. Null if the row has none of this type. */
  fact(name: string, type: RowFact['type']): unknown {
    const value = this.facts[name];
    return isOf[type]?.(value) ? value : null;
  }
}

showsNoun(BookRow, Row);

const isText = (value: unknown) => typeof value === 'string';
const isOf: { readonly [T in RowFact['type']]?: (value: unknown) => boolean } = {
  text: isText,
  digits: isText,
  boolean: value => typeof value === 'boolean',
  json: value => typeof value === 'object' && value !== null && !Array.isArray(value),
  json_list: value => Array.isArray(value),
  text_list: value => Array.isArray(value),
};

/** GraphQL type of each type of fact. */
const graphTypes = {
  text: () => String,
  digits: () => AtomicAmountScalar,
  integer: () => Int,
  boolean: () => Boolean,
  amount: () => AtomicAmountScalar,
  time: () => DateTimeScalar,
  json: () => GraphQLJSONObject,
  json_list: () => [GraphQLJSONObject],
  text_list: () => [String],
} as const satisfies Record<RowFact['type'], () => unknown>;

/** Word tables of those text facts that are GraphQL enums. */
const words: { readonly [K in RowFactName]?: Words } = {
  evidence: evidences,
  arrival_status: arrivalStatuses,
  settled_by: settledByWords,
  event: rowEvents,
  policy_code: policyCodeWords,
  policy_key: policyTypeWords,
  recorded_by: rowRecorders,
};

function graphTypeOf(name: string, { type }: RowFact): () => object {
  const table = words[name as RowFactName];
  const shown = table && wordEnum(table);
  if (shown) return () => shown;
  return name === 'period_start' ? () => DateTimeScalar : graphTypes[type];
}
/** Facts whose GraphQL field is defined by a resolver. */
const shaped: readonly string[] = ['fulfillment', 'ingress_receipt'] satisfies RowFactName[];

const columnTypes = {
  text: { type: 'text' },
  integer: { type: 'integer' },
  boolean: { type: 'boolean' },
  amount: { type: AtomicAmountColumn },
  time: { type: 'Date', columnType: 'timestamptz' },
  json: { type: 'json' },
} as const satisfies { readonly [T in RowFact['type']]?: object };

/** Column defaults in the database. */
const defaults: { readonly [K in RowColumn]?: object } = {
  facts: { defaultRaw: `'{}'` },
  replay_count: { default: 0 },
};
const primaryKeys: readonly string[] = ['agent_id', 'seq'] satisfies RowColumn[];

const getter = (get: (this: BookRow) => unknown) => ({ get, configurable: true, enumerable: false });

for (const [name, fact] of Object.entries<RowFact>(rowFacts)) {
  // A resolver reads these facts from events, later rows or the session.
  if (fact.from === 'events' || fact.from === 'rows' || fact.from === 'session') continue;
  const property = camel(name);
  if (fact.from !== 'facts') {
    const options = { ...columnTypes[fact.type as keyof typeof columnTypes], ...defaults[name as RowColumn] };
    if (primaryKeys.includes(name)) PrimaryKey({ ...options, autoincrement: false })(BookRow.prototype, property);
    else Property({ ...options, ...(fact.nullable && { nullable: true }) })(BookRow.prototype, property);
  } else {
    Object.defineProperty(
      BookRow.prototype,
      property,
      getter(function () {
        return this.fact(name, fact.type);
      }),
    );
  }
  if (fact.hidden || shaped.includes(name)) continue;
  const { description } = fact;
  const shown = { ...(description && { description }), nullable: fact.nullable === true || fact.from === 'facts' };
  const [group, member] = fact.group ?? [];
  const owner = group ? groups[group] : BookRow;
  const field = member === undefined ? property : camel(member);
  Field(graphTypeOf(name, fact), shown)(owner.prototype, field);
  if (fact.cost) Directive(`@cost(weight: ${fact.cost})`)(owner.prototype, field);
}

Object.defineProperty(
  BookRow.prototype,
  'fulfillmentDocument',
  getter(function () {
    return this.fulfillment;
  }),
);
Field(() => GraphQLJSONObject, {
  nullable: true,
  description: '`fulfillment` as one JSON document, as the row stores it and REST shows it. Null if the row has none.',
})(BookRow.prototype, 'fulfillmentDocument');

for (const [group, type] of Object.entries(groups)) {
  const members = Object.entries<RowFact>(rowFacts).flatMap(([name, fact]) =>
    fact.group?.[0] === group ? [[camel(fact.group[1]), camel(name)] as const] : [],
  );
  Object.defineProperty(
    BookRow.prototype,
    group,
    getter(function () {
      const row = this as unknown as JsonObject;
      return Object.fromEntries(members.map(([member, property]) => [member, row[property]]));
    }),
  );
  Field(() => type, { description: described[group as RowGroup] })(BookRow.prototype, group);
}
