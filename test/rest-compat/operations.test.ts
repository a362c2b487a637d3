import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Supergraph } from '@apollo/federation-internals';
import { type DocumentNode, Kind, type OperationDefinitionNode, parse, print, validate } from 'graphql';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { DocumentDoor } from '../../rest-compat/door.ts';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { cancelTask, getTask, listTasks } from '../../rest-compat/faces/a2a/task-doors.ts';
import { fieldOperation, operationVariables } from '../../rest-compat/field-operation.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { ROOT } from '../harness/root.ts';

const sdl = readFileSync(join(ROOT, 'schema/supergraph.graphql'), 'utf8');
const api = Supergraph.build(sdl).apiSchema().toGraphQLJSSchema();
const doors = [...everyDoor, getTask, listTasks, cancelTask].filter(
  (door): door is DocumentDoor => door.kind === 'document',
);
const documents = doors.flatMap(door => door.documents.map(document => ({ door, document, name: nameOf(document) })));

function operationOf(document: DocumentNode): OperationDefinitionNode {
  const [operation] = document.definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('a door opens with an operation');
  return operation;
}

function nameOf(document: DocumentNode): string {
  return operationOf(document).name?.value ?? '';
}

/** Root fields that the supergraph marks as paid, as `Mutation.createChatCompletion`. */
function paidFields(): string[] {
  return parse(sdl).definitions.flatMap(definition =>
    definition.kind === Kind.OBJECT_TYPE_DEFINITION
      ? (definition.fields ?? [])
          .filter(({ directives = [] }) => directives.some(({ name }) => name.value === 'paid'))
          .map(({ name }) => `${definition.name.value}.${name.value}`)
      : [],
  );
}

describe.each(documents)('operation $name', ({ document, door }) => {
  it('is valid in the public graph', () => expect(validate(api, document)).toEqual([]));

  it('has one root field', () => expect(operationOf(document).selectionSet.selections).toHaveLength(1));

  it('has a paid root field where its door has a price, and nowhere else', () => {
    const { operation, selectionSet } = operationOf(document);
    const [field] = selectionSet.selections;
    const root = operation === 'subscription' ? 'Subscription' : 'Mutation';
    const coordinate = field?.kind === Kind.FIELD ? `${root}.${field.name.value}` : '';
    expect(paidFields().includes(coordinate)).toBe(door.price !== null);
  });
});

it('what runs under one name, as metrics and logs have it, is one operation', () => {
  const texts = Map.groupBy(documents, ({ name }) => name);
  for (const [name, all] of texts) expect(new Set(all.map(({ document }) => print(document))).size, name).toBe(1);
});

describe('fieldOperation', () => {
  const job = { name: 'a_job', field: 'boardJob' };

  it('selects the members of an answer in their order, each under its own name, and passes every argument', () => {
    const Leg = z.object({ pay_to: z.string().nullable() });
    const shows = z.object({
      job_id: z.string(),
      winner: z.int().nullable().meta({ graph: 'winnerAgentId' }),
      status: z.string(),
      legs: z.array(Leg).optional(),
    });
    expect(print(fieldOperation({ ...job, shows }))).toBe(
      print(
        parse(`query a_job($jobId: String!) {
          answer: boardJob(jobId: $jobId) { job_id: jobId winner: winnerAgentId status legs { pay_to: payTo } }
        }`),
      ),
    );
  });

  it('selects what `shows` of a member names in place of its own shape, and of alternatives all members', () => {
    const Payout = z.record(z.string(), z.unknown()).meta({ shows: z.object({ amount: z.string() }) });
    const shows = z.union([z.object({ status: z.string() }), z.object({ payout: Payout.nullable() })]);
    expect(print(fieldOperation({ ...job, shows }))).toContain('status\n    payout {\n      amount\n    }');
  });

  it('selects nothing of a scalar, whatever its JSON holds', () => {
    const shows = z.object({ receipts: z.int() });
    const jwks = fieldOperation({ name: 'keys', field: 'jwks', shows });
    expect(print(jwks)).toBe(print(parse('query keys { answer: jwks }')));
  });

  it('leaves an argument that has a default to the graph, where a request does not bring it', () => {
    const shows = z.object({ kill_switch: z.boolean() });
    const operation = print(fieldOperation({ name: 'policy', field: 'setBookPolicy', shows }));
    expect(operation).toContain('$policyType: PolicyType!');
    expect(operation).toMatch(/\$mode: PolicyMode[,)]/);
  });

  it.each([
    ['a root field', { name: 'no', field: 'noSuchField', shows: z.object({}) }, 'no root field noSuchField'],
    ['a member', { ...job, shows: z.object({ no_such: z.string() }) }, 'a_job: BoardJob has no field noSuch'],
    ['members of an object', { ...job, shows: z.object({ legs: z.unknown() }) }, 'a_job.legs: no member of'],
  ])('names %s that the graph does not have', (_, run, message) => {
    expect(() => fieldOperation(run)).toThrow(message);
  });
});

describe('operationVariables', () => {
  const variablesOf = (name: string, params: Record<string, string>, body: JsonObject) =>
    doors.find(door => door.name === name)?.operation({ params, query: {}, headers: {}, body, accept: undefined })
      .variables;

  it.each<[string, JsonObject, JsonObject]>([
    ['a2a_escrow', { action: 'fund', job_id: 'j', task_id: 't' }, { escrow: { jobId: 'j' }, taskId: 't' }],
    ['ledger_escrow', { action: 'release', task_id: 't' }, { escrow: { taskId: 't' } }],
    ['ledger_escrow', { action: 'open', task_id: 't' }, { input: { taskId: 't' } }],
  ])('are those of the operation that a request of %s runs, and of no other of its row', (name, body, said) => {
    expect(variablesOf(name, { agent_id: '7' }, body)).toEqual({ agentId: 7, ...said });
  });

  it('leave out what is null and says no more by it, and keep a null that says something', () => {
    const id = `job_${'1'.repeat(26)}`;
    expect(variablesOf('challenge_job', { id }, { agent_id: null, reason: null })).toEqual({ jobId: id });
    expect(variablesOf('get_agent_book', { agent_id: '7' }, { budget: null })).toEqual({
      agentId: 7,
      budgetAtomic: null,
    });
  });

  it('are read of whatever a member is called, and what no schema names keeps its spelling', () => {
    const document = fieldOperation({ name: 'a_job', field: 'boardJob', shows: z.object({ status: z.string() }) });
    const schema = z.looseObject({ job_id: z.string() });
    const odd = JSON.parse('{"constructor":1,"toString":{"a_b":1},"__proto__":{"jobId":"of the prototype"}}') as object;
    expect(operationVariables(document, [{ schema, values: { job_id: 'j', ...odd } }])).toEqual({ jobId: 'j' });
    expect(operationVariables(document, [{ schema, values: odd }])).toEqual({});
    expect(operationVariables(document, [{ schema: z.looseObject({}), values: { job_id: 'j' } }])).toEqual({});
  });
});
