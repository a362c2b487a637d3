import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Supergraph } from '@apollo/federation-internals';
import { type DocumentNode, Kind, type OperationDefinitionNode, parse, validate } from 'graphql';
import { describe, expect, it } from 'vitest';
import type { DocumentDoor } from '../../rest-compat/door.ts';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { cancelTask, getTask, listTasks } from '../../rest-compat/faces/a2a/task-doors.ts';
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

it('every document belongs to a door, or to several, under its own name', () => {
  const all = readdirSync(join(ROOT, 'rest-compat'), { recursive: true, encoding: 'utf8' });
  // Fragments, which stand beside what spreads them, are named as types are.
  const files = all.map(name => basename(name)).filter(name => /^[a-z]\w*\.graphql$/.test(name));
  expect([...new Set(documents.map(({ name }) => `${name}.graphql`))].sort()).toEqual(files.sort());
});
