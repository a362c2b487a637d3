import { Kind } from 'graphql';
import { expect, it } from 'vitest';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { operationsAt, operationsOf, paidOperations } from '../../schema/paid-operations.ts';

/* What a book may name as risky is what is sold by doors, and nothing else. */

const sold = everyDoor.filter(door => door.price !== null && !door.price.stamp);

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

it('is every paid door that asks a book, by its path and the fields that it sells', () => {
  const doors = sold.map(door => [door.name, { path: door.path, fields: fieldsOf(door).sort() }]);
  const known = Object.entries(paidOperations).map(([name, { path, fields }]) => [
    name,
    { path, fields: [...fields].sort() },
  ]);
  expect(Object.fromEntries(known)).toEqual(Object.fromEntries(doors));
});

it('is one operation where two doors sell one field, by whatever way it is called', () => {
  const chat = ['chat_completions', 'a2a_message'];
  expect(operationsOf('Mutation.createChatCompletion')).toEqual(chat);
  expect(operationsOf('Subscription.chatCompletionStream')).toEqual(chat);
  expect(operationsAt('https://svc.example/a2a-message')).toEqual(chat);
  expect(operationsAt('https://svc.example/task-quote')).toEqual(['quote_task']);
  expect([operationsAt('https://svc.example/graphql'), operationsOf('Mutation.registerAgent')]).toEqual([[], []]);
});
