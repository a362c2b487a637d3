import fc from 'fast-check';
import { expect } from 'vitest';
import { composeSupergraph } from '../../../gateway/graph/compose.ts';
import { openGraph } from '../../../gateway/graph/open-graph.ts';
import { jsonText } from '../../../schema/json-text.ts';
import { nobody } from '../../../schema/principal.ts';
import { boardSubgraph } from '../../../subgraphs/board/index.ts';
import type { NullOmissions } from '../../../subgraphs/json-sql.ts';
import { logTo } from '../graph/shop.ts';
import { freshStore } from '../store.ts';

/* Pages of the board in both forms: resolved field by field, and as Postgres writes them. */

const context = { base_url: 'https://svc.example', principal: nobody, treasuries: { base: '0xtreasury' } };

/** The graph over an empty board. */
export async function boardPages() {
  const database = await freshStore();
  const board = await boardSubgraph();
  const graph = await openGraph([board], {
    logger: logTo([]),
    introspection: true,
    supergraph: composeSupergraph([board]),
  });
  async function page(field: string, written: { readonly written?: NullOmissions }) {
    const document = graph.parse(`{ page: ${field} }`);
    const { data, errors } = await graph.execute({
      document,
      variables: {},
      context: { ...context, database },
      ...written,
    });
    expect(errors).toBeUndefined();
    return JSON.parse(jsonText(data));
  }
  /** The page of a field. Both forms say the same, or the test has failed. */
  async function both(field: string) {
    const plain = await page(field, {});
    expect(JSON.stringify(await page(field, { written: {} }))).toBe(JSON.stringify(plain));
    return plain;
  }
  return { database, board, both };
}

const text = fc.string({ unit: 'grapheme-composite' }).map(it => it.replaceAll('\0', ' '));
const nasty = fc.constantFrom('"', '\\', '\\"', '\n\r\t\b\f', '\u001f\u007f\u2028', '</script>', '%$1', 'null');

/** Any text that Postgres can hold: without NUL, and without a lone surrogate. */
export const storableText = fc.oneof(
  text,
  nasty,
  fc.array(fc.oneof(text, nasty)).map(parts => parts.join('')),
);
