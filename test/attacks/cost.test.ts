import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import {
  getIntrospectionQuery,
  getNamedType,
  isCompositeType,
  isIntrospectionType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  parse,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { composeSupergraph } from '../../gateway/graph/compose.ts';
import { type GivenVariables, judgeCost, judgeShape, Scale } from '../../gateway/graph/cost.ts';
import { fieldCosts, publicSchema } from '../../gateway/graph/supergraph.ts';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { limits } from '../../schema/limits.ts';
import { costly, cycle, tenPages, wholePage } from '../harness/attacks/documents.ts';
import { ROOT } from '../harness/root.ts';

const sdl = readFileSync(join(ROOT, 'schema/supergraph.graphql'), 'utf8');
const api = publicSchema(sdl);
const priced = { schema: api, costs: fieldCosts(api) };

const ROW =
  'seq taskId evidence settledBy collected collectedAt intentId payerWallet rowHash prevRowHash replayCount bucket reason event payment { ref rail amount } route { model hub }';

function judge(text: string, variables: GivenVariables = 'most') {
  const document = parse(text, { noLocation: true, maxTokens: limits.graphql_tokens_max });
  const shape = judgeShape(document);
  return shape.kind === 'within' ? judgeCost(document, priced, variables) : shape;
}

describe('what a document may ask for', () => {
  it.each(costly)('refuses %s by its %s', (_, limit, query) => {
    expect(judge(query, 'least')).toMatchObject({ kind: 'exceeded', limit });
  });

  it.each([1, 2, 30])('refuses a cycle of %i fragments, and says which', length => {
    expect(judge(cycle(length))).toEqual({ kind: 'cyclic', fragment: 'f0' });
  });

  it('lets pass what every door asks for, whatever its variables', () => {
    for (const door of everyDoor) {
      if (door.kind !== 'document') continue;
      for (const document of door.documents) expect(judgeCost(document, priced, 'most')).toEqual({ kind: 'within' });
    }
  });

  it('lets pass 200 rows with everything that is known of each', () => {
    expect(judge(wholePage)).toEqual({ kind: 'within' });
  });

  it('lets pass introspection as the official tools ask for it', () => {
    const asked = { descriptions: true, specifiedByUrl: true, directiveIsRepeatable: true, schemaDescription: true };
    expect(judge(getIntrospectionQuery({ ...asked, inputValueDeprecation: true, oneOf: true }))).toEqual({
      kind: 'within',
    });
  });

  it('counts rows of a connection by whichever end they are asked for from', () => {
    const judgeRows = (size: string) =>
      judge(
        `{ ${[1, 2, 3, 4, 5, 6].map(i => `a${i}: book(agentId: 1) { rows(${size}) { edges { node { ${ROW} } } } }`).join(' ')} }`,
      ).kind;
    expect(['first: 10', 'last: 10', 'first: 200', 'last: 200'].map(judgeRows)).toEqual([
      'within',
      'within',
      'exceeded',
      'exceeded',
    ]);
  });

  it('counts rows by the limit that is asked for, in the text or by a variable', () => {
    expect([10, 200, 1_000_000].map(limit => judge(tenPages(String(limit))).kind)).toEqual([
      'within',
      'exceeded',
      'exceeded',
    ]);
    const kindWith = (variables: GivenVariables) => judge(`query Q($limit: Int) ${tenPages('$limit')}`, variables).kind;
    expect([{ limit: 10 }, { limit: null }, { limit: 200 }, {}].map(kindWith)).toEqual([
      'within',
      'within',
      'exceeded',
      'exceeded',
    ]);
  });
});

/**
 * Writes a nested query. Each fragment spreads only later ones, so that no cycle arises. `inline` writes each fragment out in its place
 * instead.
 */
function bookOf(parts: readonly (readonly Part[])[], limit: number, inline: boolean): string {
  const written = ([first, ...later]: readonly (readonly Part[])[], at: number): string =>
    (first ?? []).map(part => (typeof part === 'string' ? part : spread(part, later, at))).join(' ');
  const spread = (part: { over: number }, later: readonly (readonly Part[])[], at: number): string => {
    const target = at + 1 + part.over;
    if (part.over >= later.length) return 'cap';
    return inline
      ? `... on Book @include(if: true) { agentId ${written(later.slice(part.over), target)} }`
      : `...f${target} @include(if: true)`;
  };
  const fragments = parts
    .slice(1)
    .map((_, n) => `fragment f${n + 1} on Book { agentId ${written(parts.slice(n + 1), n + 1)} }`);
  const operation = `{ book(agentId: 1, limit: ${limit}) { agentId ${written(parts, 0)} } }`;
  return inline ? operation : [operation, ...fragments].join(' ');
}
type Part = string | { readonly over: number };

const part = fc.oneof(
  fc.constantFrom('spent', 'x: remaining', 'entries { seq }', 'totals { count }', 'b: entries { receipt { hub } }'),
  fc.record({ over: fc.nat(3) }),
);

it('a fragment weighs as much as what it stands for, wherever it is spread', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(part, { maxLength: 4 }), { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 300 }),
      (parts, limit) => {
        expect(weigh(bookOf(parts, limit, false))).toEqual(weigh(bookOf(parts, limit, true)));
      },
    ),
  );
});

function weigh(text: string) {
  const document = parse(text, { noLocation: true });
  const [operation] = document.definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('no operation');
  return new Scale(document, priced, 'most').ofOperation(operation);
}

it('every list of objects in the public graph has a size', () => {
  const lists = Object.values(api.getTypeMap())
    .filter(isObjectType)
    .filter(type => !isIntrospectionType(type))
    .flatMap(type =>
      Object.values(type.getFields())
        .filter(({ type: of }) => isListType(isNonNullType(of) ? of.ofType : of) && isCompositeType(getNamedType(of)))
        .map(field => `${type.name}.${field.name}`),
    );
  expect(lists.filter(coordinate => (priced.costs.get(coordinate)?.size ?? null) === null)).toEqual([]);
});

it('no graph opens whose pages may be of any length', () => {
  const page = (
    size: string,
  ) => `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@listSize"])
    type Query { page(limit: Int): Page @listSize(${size}) }
    type Page { rows: [Row!]! }
    type Row { seq: Int }`;
  const costsOf = (size: string) => fieldCosts(publicSchema(composeSupergraph([{ name: 'pages', sdl: page(size) }])));
  const sized = 'assumedSize: 7, slicingArguments: ["limit"], sizedFields: ["rows"], requireOneSlicingArgument: false';
  expect(Object.fromEntries(costsOf(sized))).toEqual({
    'Query.page': { weight: 1, size: null, page: { arguments: ['limit'], rows_default: 7 } },
    'Page.rows': { weight: 1, size: 'page', page: null },
  });
  expect(() => costsOf('slicingArguments: ["limit"], sizedFields: ["rows"]')).toThrow('Query.page');
  expect(() => costsOf('assumedSize: 7, sizedFields: ["rows"]')).toThrow('Query.page');
});
