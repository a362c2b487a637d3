import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { composeSupergraph } from '../../../gateway/graph/compose.ts';
import { openGraph } from '../../../gateway/graph/open-graph.ts';
import { subgraphs } from '../../../gateway/parts.ts';
import { limits } from '../../../schema/limits.ts';
import { SUPERGRAPH_FILE } from '../../../schema/supergraph.ts';
import { logTo } from '../../harness/graph/shop.ts';

const all = await subgraphs();

describe('the committed schema (else run `npm run compose`)', () => {
  it.each(all.map(({ name, sdl }) => ({ name, sdl })))('holds $name as it is built', async ({ name, sdl }) => {
    expect(await readFile(new URL(`${name}.graphql`, SUPERGRAPH_FILE), 'utf8')).toBe(sdl);
  });

  it('holds the supergraph as it composes', async () => {
    expect(await readFile(SUPERGRAPH_FILE, 'utf8')).toBe(composeSupergraph(all));
  });
});

describe('the graph', () => {
  it('sells what the specification sells, at its price', async () => {
    const { paid } = await openGraph(all, { logger: logTo([]), introspection: true });
    const call = String(limits.call_price_atomic);
    const stamp = String(limits.stamp_price_atomic);
    expect(Object.fromEntries(paid)).toEqual({
      createChatCompletion: call,
      chatCompletionStream: call,
      createResponse: call,
      responseStream: call,
      createMessage: call,
      messageStream: call,
      requestTask: call,
      quoteTask: call,
      createImage: call,
      createEmbeddings: call,
      createTranscription: call,
      registerAgent: stamp,
      ingestForeignSpend: stamp,
      createPost: stamp,
      createComment: stamp,
      flagPost: stamp,
      flagComment: stamp,
      flagJob: stamp,
      postJob: stamp,
      bidOnJob: stamp,
      payJob: 'by request',
    });
  });
});
