import { readFileSync } from 'node:fs';
import { parse, visit } from 'graphql';
import { expect, it } from 'vitest';
import { variables } from '../../gateway/config/variables.ts';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { openApi } from '../../rest-compat/faces/openapi.ts';
import { errors } from '../../schema/errors.ts';

/* What people read calls one thing by one word: an endpoint, which our sources call a door. Names of members stand in backticks. */

const OURS = /\bdoors?\b/i;
const named = (sentences: readonly string[]) => sentences.filter(it => OURS.test(it.replace(/`[^`]*`/g, '')));

function told(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([name, value]) =>
    ['description', 'summary', 'title'].includes(name) && typeof value === 'string' ? [value] : told(value),
  );
}

it('OpenAPI, and with it every tool, speaks of endpoints', () => {
  expect(named(told(openApi(everyDoor, 'https://svc.test')))).toEqual([]);
});

it('the graph speaks of endpoints', () => {
  const described: string[] = [];
  visit(parse(readFileSync('schema/supergraph.graphql', 'utf8')), {
    StringValue: ({ value }, key) => void (key === 'description' && described.push(value)),
  });
  expect(described.length).toBeGreaterThan(1_000);
  expect(named(described)).toEqual([]);
});

it('errors and variables speak of endpoints', () => {
  expect(named(Object.values(errors).map(([, sentence]) => sentence))).toEqual([]);
  expect(named(Object.values(variables.shape).map(({ description = '' }) => description))).toEqual([]);
});
