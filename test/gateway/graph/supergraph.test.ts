import { readFileSync } from 'node:fs';
import { operationFromDocument, Supergraph } from '@apollo/federation-internals';
import { QueryPlanner } from '@apollo/query-planner';
import { type DocumentNode, getOperationAST, introspectionFromSchema, parse, printSchema } from 'graphql';
import { describe, expect, it } from 'vitest';
import { composeSupergraph } from '../../../gateway/graph/compose.ts';
import { borrows, ownerOf } from '../../../gateway/graph/owner.ts';
import { fetchAlone } from '../../../gateway/graph/planner.ts';
import { InProcessSource } from '../../../gateway/graph/source.ts';
import { publicSchema } from '../../../gateway/graph/supergraph.ts';
import { subgraphs } from '../../../gateway/parts.ts';
import { everyDoor } from '../../../rest-compat/every-door.ts';
import { cancelTask, getTask, listTasks } from '../../../rest-compat/faces/a2a/task-doors.ts';
import { SUPERGRAPH_FILE } from '../../../schema/supergraph.ts';

/* What the service reads of the supergraph by itself is what Apollo's libraries, which it loads later, read of it. */

const sdl = readFileSync(SUPERGRAPH_FILE, 'utf8');
const supergraph = Supergraph.build(sdl);

const hiding = composeSupergraph([
  {
    name: 'hiding',
    sdl: `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@inaccessible", "@key"])
      type Query { seen(first: Int, second: Int @inaccessible): Seen  unseen: Unseen @inaccessible }
      type Seen @key(fields: "id") { id: ID  secret: String @inaccessible  join: Join  state: State }
      type Unseen @inaccessible { id: ID }
      type Join { link: String }
      enum State { OPEN  SECRET @inaccessible }`,
  },
]);

describe.each([
  ['the committed supergraph', sdl],
  ['one that hides members and has types of telling names', hiding],
])('what clients see of %s', (_, text) => {
  const theirs = Supergraph.build(text).apiSchema().toGraphQLJSSchema();
  const ours = publicSchema(text);

  it('is what Apollo shows of it: as text', () => expect(printSchema(ours)).toBe(printSchema(theirs)));

  it('is what Apollo shows of it: by introspection', () =>
    expect(introspectionFromSchema(ours)).toEqual(introspectionFromSchema(theirs)));
});

const sources = new Map((await subgraphs()).map(subgraph => [subgraph.name, new InProcessSource(subgraph)]));
const api = supergraph.apiSchema();
const planner = new QueryPlanner(supergraph);

/** Whom a plan asks, where it asks one subgraph once. */
function plannedOwner(document: DocumentNode, name?: string): string | null {
  const { node } = planner.buildQueryPlan(
    operationFromDocument(api, document, name === undefined ? {} : { operationName: name }),
  );
  return fetchAlone(node)?.serviceName ?? null;
}

function owner(document: DocumentNode, name?: string): string | null {
  const operation = getOperationAST(document, name);
  if (!operation) throw new Error('there is no such operation');
  const found = ownerOf(document, operation, sources);
  return [...sources].find(([, source]) => source === found)?.[0] ?? null;
}

describe('the subgraph that answers a document alone is found without a plan', () => {
  const doors = [...everyDoor, getTask, listTasks, cancelTask].flatMap(door =>
    door.kind === 'document' ? door.documents : [],
  );
  const names = new Set(doors.map(document => getOperationAST(document)?.name?.value));

  it.each([...names].map(name => [name]))('of the door %s', name => {
    const document = doors.find(one => getOperationAST(one)?.name?.value === name);
    if (!document) throw new Error('a door without its document');
    const planned = plannedOwner(document);
    const found = owner(document);
    // Never another than the plan's; and none only where there is more to a plan than one fetch.
    expect(found).toBe(planned);
  });

  it.each([
    ['fields of two subgraphs', '{ receipt(taskId: "a") { taskId } agent(agentId: "a") { agentId } }'],
    ['an object that two know something of', '{ agent(agentId: "a") { agentId book { agentId } } }'],
    ['introspection', '{ __schema { queryType { name } } }'],
    ['a root field on a condition', 'query ($if: Boolean!) { receipt(taskId: "a") @include(if: $if) { taskId } }'],
    ['a fragment at the root', '{ ...root } fragment root on Query { receipt(taskId: "a") { taskId } }'],
  ])('and is left to a plan where a document has %s', (_, text) => {
    expect(owner(parse(text))).toBeNull();
  });
});

it('no subgraph is asked by itself in a graph whose subgraphs borrow fields from each other', () => {
  expect(borrows(sdl)).toBe(false);
  const field = (argument: string) =>
    `type A @join__type(graph: A, key: "id") { b: ID @join__field(graph: A, ${argument}) }`;
  const borrowing = ['external: true', 'requires: "c"', 'provides: "c"', 'override: "b"', 'usedOverridden: true'].map(
    field,
  );
  const shared = 'type A @join__type(graph: A, key: "id", isInterfaceObject: true) { id: ID! }';
  expect([...borrowing, shared].filter(text => !borrows(text))).toEqual([]);
});
