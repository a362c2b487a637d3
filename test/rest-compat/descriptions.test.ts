import { readFileSync } from 'node:fs';
import { parse, visit } from 'graphql';
import { describe, expect, it } from 'vitest';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { placesOf } from '../../rest-compat/faces/mcp/argument-places.ts';
import { openApi } from '../../rest-compat/faces/openapi.ts';
import { isJsonObject, type Json, type JsonObject } from '../../schema/canonical-json.ts';
import { SUPERGRAPH_FILE } from '../../schema/supergraph.ts';
import { withoutReferences } from '../harness/openapi.ts';

/* A reader of OpenAPI, of the graph or of a tool sees nothing but descriptions: each thing has one, and none begins as a fragment. */

const document = withoutReferences(JSON.parse(JSON.stringify(openApi(everyDoor, 'https://svc.test'))) as JsonObject);
const schemas = (document.components as JsonObject).schemas as JsonObject;

const objectAt = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});

/** Whether it is described in place, where it refers to, or in one of its alternatives. */
function isDescribed(schema: Json | undefined): boolean {
  const { description, $ref, anyOf, oneOf } = objectAt(schema);
  if (typeof description === 'string' && description.trim() !== '') return true;
  if (typeof $ref === 'string') return isDescribed(schemas[$ref.split('/').at(-1) ?? '']);
  const alternatives = [anyOf ?? oneOf ?? []].flat() as readonly Json[];
  return alternatives.some(isDescribed);
}

interface Met {
  readonly at: string;
  readonly described: boolean;
}

/** Every member of every schema below, and every parameter and header. */
function* everything(value: Json | undefined, at: string): Generator<Met> {
  if (Array.isArray(value)) {
    for (const [index, item] of (value as readonly Json[]).entries()) yield* everything(item, `${at}/${index}`);
    return;
  }
  const { properties, parameters, headers } = objectAt(value);
  // A member may be called `properties`; a schema's are schemas.
  if (!at.endsWith('/properties'))
    for (const [name, member] of Object.entries(objectAt(properties)))
      yield { at: `${at}/properties/${name}`, described: isDescribed(member) };
  for (const parameter of [parameters ?? []].flat() as readonly JsonObject[])
    if (typeof parameter.in === 'string')
      yield { at: `${at} ${parameter.in} ${parameter.name}`, described: isDescribed(parameter) };
  if (at.includes('/responses/'))
    for (const [name, header] of Object.entries(objectAt(headers)))
      yield { at: `${at} header ${name}`, described: isDescribed(header) };
  for (const [name, member] of Object.entries(objectAt(value))) yield* everything(member, `${at}/${name}`);
}

const undescribed = (met: Iterable<Met>) => [...met].filter(({ described }) => !described).map(({ at }) => at);

describe('each has a description', () => {
  it('of the members, parameters and headers of OpenAPI', () => {
    const met = [...everything(document, '')];
    expect(met.length).toBeGreaterThan(7_000);
    expect(undescribed(met)).toEqual([]);
  });

  it('of the inputs of tools, however deep', () => {
    const met = everyDoor.flatMap(door => {
      const { path, query, body, header } = placesOf(door);
      const properties = { ...query.shapes, ...header.shapes, ...body.shapes, ...path.shapes };
      return [...everything({ properties }, door.name)];
    });
    expect(met.length).toBeGreaterThan(1_000);
    expect(undescribed(met)).toEqual([]);
  });
});

/** What a sentence or the name of a thing does not begin with. `Why the answer ended.` is the name of a thing. */
const FRAGMENT = /^(?:Of |By whom\b|By what\b|When[.:;,]|Why[.:;,]|Which\b)/;

function* texts(value: Json | undefined): Generator<string> {
  if (Array.isArray(value)) for (const item of value as readonly Json[]) yield* texts(item);
  for (const [name, member] of Object.entries(objectAt(value)))
    if (typeof member === 'string' && (name === 'description' || name === 'summary')) yield member;
    else yield* texts(member);
}

describe('none begins as a fragment', () => {
  it('of OpenAPI, and with it of every tool', () => {
    expect([...new Set(texts(document))].filter(text => FRAGMENT.test(text))).toEqual([]);
  });

  it('of the graph', () => {
    const described: string[] = [];
    visit(parse(readFileSync(SUPERGRAPH_FILE, 'utf8')), {
      StringValue: ({ value }, key) => void (key === 'description' && described.push(value)),
    });
    expect(described.length).toBeGreaterThan(1_000);
    expect(described.filter(text => FRAGMENT.test(text))).toEqual([]);
  });
});
