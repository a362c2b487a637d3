import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Supergraph } from '@apollo/federation-internals';
import { parse, validate } from 'graphql';
import { expect, it } from 'vitest';
import { SUPERGRAPH_FILE } from '../../schema/supergraph.ts';
import type { Figure } from '../bench/alternate.ts';
import { subscription } from '../bench/contests/fan-out.ts';
import { contests } from '../bench/contests.ts';
import { rowsOf, withFigures } from '../bench/page.ts';
import { ROOT } from '../harness/root.ts';

const page = readFileSync(join(ROOT, 'test/bench/figures.md'), 'utf8');
const names = contests.flatMap(({ lines }) => lines.map(({ name }) => name));
const taken: Figure = {
  name: names[1] ?? '',
  unit: 'ms',
  ours: 1,
  beside: 4,
  ratio: 0.25,
  goal: '≤ 0.6',
  reached: false,
  cpu_us: 1000,
};

it('the page of figures is in the form in which the bench writes it, and its lines are the contests’', () => {
  expect(rowsOf(page).length).toBeGreaterThan(20);
  expect(withFigures(page, names, [], 'today')).toBe(page);
});

it('a run writes its own lines, with day and commit, and leaves the others', () => {
  const written = withFigures(page, names, [[taken, 'the usual way']], '2026-12-01, abc1234');
  const row = `| ${taken.name} | ms | 1 | 4 (the usual way) | 0.25 × | ≤ 0.6 | no | 1 ms | 2026-12-01, abc1234 |`;
  expect(rowsOf(written)).toEqual(rowsOf(page).map((it, at) => (at === 1 ? row : it)));
});

it('a figure that could not be taken replaces none', () => {
  expect(withFigures(page, names, [[{ ...taken, ours: null, note: 'failed' }, '']], 'today')).toBe(page);
});

it('what the bench subscribes to is on the graph', () => {
  const sdl = readFileSync(SUPERGRAPH_FILE, 'utf8');
  const schema = Supergraph.build(sdl, { validateSupergraph: false }).apiSchema().toGraphQLJSSchema();
  expect(validate(schema, parse(subscription))).toEqual([]);
});
