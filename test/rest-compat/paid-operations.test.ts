import { Kind } from 'graphql';
import { expect, it } from 'vitest';
import { everyDoor } from '../../rest-compat/every-door.ts';
import {
  endpointsOf,
  grantableEndpoints,
  namesOfField,
  operationsAt,
  operationsOf,
  paidOperations,
  stampOperations,
} from '../../schema/paid-operations.ts';

/* What a grant or a policy may name is what is sold by endpoints, by the names of their tools, and nothing else. */

const sold = everyDoor.filter(door => door.price !== null);
const nameOf = ({ name, tool }: (typeof sold)[number]) => ('name' in tool ? tool.name : undefined) ?? name;

/** Coordinates of what a door's documents run. */
function fieldsOf(door: (typeof sold)[number]): string[] {
  if (door.kind !== 'document') return [];
  return door.documents.flatMap(({ definitions }) =>
    definitions.flatMap(definition => {
      if (definition.kind !== Kind.OPERATION_DEFINITION) return [];
      const type = definition.operation === 'subscription' ? 'Subscription' : 'Mutation';
      return definition.selectionSet.selections.flatMap(it =>
        it.kind === Kind.FIELD ? [`${type}.${it.name.value}`] : [],
      );
    }),
  );
}

it.each([
  ['asks a book', paidOperations, sold.filter(({ price }) => !price?.stamp)],
  ['takes a stamp', stampOperations, sold.filter(({ price }) => price?.stamp)],
] as const)(
  'is every paid endpoint that %s, by the name of its tool, its path and the fields that it sells',
  (_, table, doors) => {
    const known = Object.entries<{ readonly path: string; readonly fields: readonly string[] }>(table).map(
      ([name, { path, fields }]) => [
        name,
        // The second payment of a job is charged for by a coordinate of its own.
        { path, fields: fields.filter(field => !field.endsWith('.fee')).sort() },
      ],
    );
    const expected = doors.map(door => [nameOf(door), { path: door.path, fields: fieldsOf(door).sort() }]);
    expect(Object.fromEntries(known)).toEqual(Object.fromEntries(expected));
  },
);

it('is one operation where two endpoints sell one field, by whatever way it is called', () => {
  const chat = ['chat_completions', 'a2a_message'];
  expect(operationsOf('Mutation.createChatCompletion')).toEqual(chat);
  expect(operationsOf('Subscription.chatCompletionStream')).toEqual(chat);
  expect(operationsAt('https://svc.example/a2a-message')).toEqual(chat);
  expect(operationsAt('https://svc.example/task-quote')).toEqual(['quote_task']);
  expect([operationsAt('https://svc.example/graphql'), operationsOf('Mutation.registerAgent')]).toEqual([[], []]);
});

it('has one name for both payments of a job; names of before are known, and published no more', () => {
  for (const field of ['Mutation.payJob', 'Mutation.payJob.fee']) {
    expect(endpointsOf(field)).toEqual(['pay_job']);
    expect(namesOfField(field)).toEqual(['pay_job', 'payJob']);
  }
  expect(operationsOf('Mutation.requestTask')).toEqual(['submit_inference', 'request_task']);
  expect(grantableEndpoints).toContainEqual({ name: 'submit_inference', path: '/task-request' });
  expect(grantableEndpoints.map(({ name }) => name)).not.toContain('request_task');
});
