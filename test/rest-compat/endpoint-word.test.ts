import { readFileSync } from 'node:fs';
import { parse, visit } from 'graphql';
import { expect, it } from 'vitest';
import { variables } from '../../gateway/config/variables.ts';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { openApi } from '../../rest-compat/faces/openapi.ts';
import { errors } from '../../schema/errors.ts';

/* Texts for people use one word for one thing. Names of members are in backticks. */

/** Words that are not used, by the one that replaces them. */
const unused = {
  endpoint: /\bdoors?\b/i,
  hub: /\bmodel hubs?\b/i,
  intent: /\btreasury intents?\b/i,
  'wallet of the agent': /\bagentWallet\b/,
  seq: /\bposition (?:in the book )?of the (?:\w+ )?row\b/i,
  'tree head': /\b(?:newest|signed|anchored) heads?\b/i,
  'author of a post': /\bposters?\b[^.]*\bposts?\b/i,
  'stand-in': /\bsimulated (?:services?|base|solana|chains?)\b/i,
} as const;

const named = (sentences: readonly string[]) =>
  Object.entries(unused).flatMap(([word, others]) =>
    sentences.filter(it => others.test(it.replace(/`[^`]*`/g, ''))).map(it => `${word}: ${it}`),
  );

function described(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([name, value]) =>
    ['description', 'summary', 'title'].includes(name) && typeof value === 'string' ? [value] : described(value),
  );
}

it('in OpenAPI, and with it in every tool', () => {
  expect(named(described(openApi(everyDoor, 'https://svc.test')))).toEqual([]);
});

it('in the graph', () => {
  const texts: string[] = [];
  visit(parse(readFileSync('schema/supergraph.graphql', 'utf8')), {
    StringValue: ({ value }, key) => void (key === 'description' && texts.push(value)),
  });
  expect(texts.length).toBeGreaterThan(1_000);
  expect(named(texts)).toEqual([]);
});

it('in errors and variables', () => {
  expect(named(Object.values(errors).map(([, sentence]) => sentence))).toEqual([]);
  expect(named(Object.values(variables.shape).map(({ description = '' }) => description))).toEqual([]);
});
