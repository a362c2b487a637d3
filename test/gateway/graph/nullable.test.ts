import { readFile } from 'node:fs/promises';
import { Supergraph } from '@apollo/federation-internals';
import { getNamedType, isListType, isNonNullType, isObjectType } from 'graphql';
import { expect, it } from 'vitest';
import { SUPERGRAPH_FILE } from '../../../schema/supergraph.ts';

it('a book that is refused leaves the rest of an answer: root fields that name one, and lists of books, may be null', async () => {
  const sdl = await readFile(SUPERGRAPH_FILE, 'utf8');
  const schema = Supergraph.build(sdl, { validateSupergraph: false }).apiSchema().toGraphQLJSSchema();
  const roots = [schema.getQueryType(), schema.getMutationType()];
  const named = roots.flatMap(root =>
    Object.values(root?.getFields() ?? {}).filter(({ args }) => args.some(({ name }) => name === 'agentId')),
  );
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter(({ type }) => isNonNullType(type)).map(({ name }) => name)).toEqual([]);
  const lists = Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .flatMap(type => Object.values(type.getFields()))
    .map(({ type }) => (isNonNullType(type) ? type.ofType : type))
    .filter(isListType)
    .filter(type => getNamedType(type).name === 'Book');
  expect(lists.map(String)).toEqual(['[Book]']);
});
