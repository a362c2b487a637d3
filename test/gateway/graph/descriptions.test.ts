import { readFile } from 'node:fs/promises';
import { Supergraph } from '@apollo/federation-internals';
import { isEnumType, isInputObjectType, isIntrospectionType, isObjectType, isSpecifiedScalarType } from 'graphql';
import { expect, it } from 'vitest';
import { SUPERGRAPH_FILE } from '../../../schema/supergraph.ts';

interface Described {
  readonly description?: string | null | undefined;
}

const named = (coordinate: string, described: Described): [string, Described] => [coordinate, described];

/** Every type of the public graph, each of its fields or values, and their arguments, by coordinate. */
async function everything(): Promise<[coordinate: string, described: Described][]> {
  const sdl = await readFile(SUPERGRAPH_FILE, 'utf8');
  const schema = Supergraph.build(sdl, { validateSupergraph: false }).apiSchema().toGraphQLJSSchema();
  const types = Object.values(schema.getTypeMap()).filter(it => !isIntrospectionType(it) && !isSpecifiedScalarType(it));
  return types.flatMap((type): [string, Described][] => {
    const own: [string, Described][] = [[type.name, type]];
    if (isEnumType(type)) return [...own, ...type.getValues().map(it => named(`${type.name}.${it.name}`, it))];
    if (isInputObjectType(type))
      return [...own, ...Object.values(type.getFields()).map(it => named(`${type.name}.${it.name}`, it))];
    if (!isObjectType(type)) return own;
    const fields = Object.values(type.getFields()).flatMap(field => [
      named(`${type.name}.${field.name}`, field),
      ...field.args.map(it => named(`${type.name}.${field.name}(${it.name}:)`, it)),
    ]);
    return [...own, ...fields];
  });
}

it('every type, field, value and argument of the graph says what it is', async () => {
  const all = await everything();
  expect(all.length).toBeGreaterThan(300);
  expect(all.filter(([, { description }]) => !description?.trim()).map(([coordinate]) => coordinate)).toEqual([]);
});
