import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DocumentNode, Kind, parse, print, visit } from 'graphql';
import { GraphQLDateTimeISO, GraphQLJSONObject } from 'graphql-scalars';
import pg from 'pg';
import { ROOT } from '../harness/root.ts';

/** Names of types that belong to other subgraphs or that this side does not need. */
const elsewhere = ['Receipt', 'Mutation', 'Subscription', 'BookRowEvent', 'BookPolicy'];

/** The part of our schema that a page of a book needs, so that both sides can be sent the same request. */
const schema: DocumentNode = visit(parse(readFileSync(join(ROOT, 'schema/book.graphql'), 'utf8')), {
  Document: document => ({
    ...document,
    definitions: document.definitions.filter(
      definition =>
        'name' in definition &&
        definition.kind !== Kind.DIRECTIVE_DEFINITION &&
        !elsewhere.includes(definition.name?.value ?? ''),
    ),
  }),
  ObjectTypeDefinition: type => ({
    ...type,
    fields: type.fields?.filter(({ name }) => wanted(type.name.value, name.value)),
  }),
  Directive: () => null,
});

/** Whether a page needs the field. The only root field is `book`, and receipts belong to another subgraph. */
function wanted(type: string, field: string): boolean {
  return type === 'Query' ? field === 'book' : field !== 'receipt';
}

export const bookTypeDefs = print(schema);

interface Row {
  readonly [column: string]: unknown;
  readonly facts: Readonly<Record<string, unknown>>;
}
type PagedRow = Row & { readonly limit: number };

/** Resolvers of a type: each field is the column of its name, or else the member of the row's facts. */
function columns(type: string): Record<string, (row: Row) => unknown> {
  const definition = schema.definitions.find(node => 'name' in node && node.name?.value === type);
  const fields = definition?.kind === Kind.OBJECT_TYPE_DEFINITION ? (definition.fields ?? []) : [];
  return Object.fromEntries(
    fields.map(({ name: { value: name } }) => {
      const column = name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
      return [name, (row: Row) => row[column] ?? row.facts?.[column] ?? null];
    }),
  );
}

/** Resolvers for graphql-js over the same tables. They do less than our side: they check no credentials and sign nothing. */
export function bookResolvers(pool: pg.Pool) {
  const rows = async (text: string, values: unknown[]) => (await pool.query<Row>(text, values)).rows;
  return {
    DateTime: GraphQLDateTimeISO,
    JSONObject: GraphQLJSONObject,
    Query: {
      async book(_root: unknown, { agentId, limit }: { readonly agentId: number; readonly limit: number }) {
        const [book] = await rows('select * from book where agent_id = $1', [agentId]);
        return book && { ...book, limit };
      },
    },
    Book: {
      ...columns('Book'),
      entries: ({ agent_id, limit }: PagedRow) =>
        rows('select * from book_row where agent_id = $1 order by seq desc limit $2', [agent_id, limit]),
      intents: () => [],
      alerts: () => [],
      intentsDocument: () => ({}),
      totals: ({ by_rail }: Row) => by_rail,
      totalsCover: () => 'whole_book',
      window: () => 'prepaid_ceiling',
      cap: ({ budget_atomic }: Row) => budget_atomic,
      spent: ({ spent_atomic }: Row) => spent_atomic,
      pending: () => '0',
      allowance: (book: Row) => book,
    },
    BookTotals: {
      count: ({ usdc }: { usdc: { count: number } }) => usdc.count,
      usdcSum: ({ usdc }: { usdc: { amount: string } }) => usdc.amount,
      pendingUsdcSum: () => '0',
      byRail: () => [],
      byRailDocument: (by_rail: unknown) => by_rail,
    },
    Allowance: {
      ...columns('Allowance'),
      asOf: () => new Date(),
      signature: () => ({ alg: 'none', value: 'x'.repeat(86) }),
    },
    BookRow: {
      ...columns('BookRow'),
      payment: ({ payment_ref, rail, amount }: Row) => ({ ref: payment_ref, rail, amount }),
      route: ({ model, hub }: Row) => ({ model, hub }),
      replayEvents: () => [],
      fulfillmentDocument: ({ fulfillment }: Row) => fulfillment,
    },
  };
}

export function openPool(database_url: string): pg.Pool {
  return new pg.Pool({ connectionString: database_url, max: 16 });
}
