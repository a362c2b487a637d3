import { Field, Mutation, ObjectType, Query, Resolver } from 'type-graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { composeSupergraph } from '../../../gateway/graph/compose.ts';
import { type Graph, openGraph } from '../../../gateway/graph/open-graph.ts';
import { nobody } from '../../../schema/principal.ts';
import { systemRandom } from '../../../subgraphs/clock.ts';
import { ResponseHeaders } from '../../../subgraphs/context.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { buildSubgraph } from '../../../subgraphs/subgraph.ts';
import { openVault } from '../../../subgraphs/vault.ts';
import { logTo } from '../../harness/graph/shop.ts';

@ObjectType()
class Speech {
  @Field(() => String) text!: string;
}

@Resolver()
class SpeechResolver {
  @Query(() => String)
  nothing(): string {
    return '';
  }

  @Mutation(() => Speech)
  speak(): Speech {
    return { text: 'x'.repeat(6 * 1024 * 1024) };
  }
}

const logged: string[] = [];
let graph: Graph;
beforeAll(async () => {
  const subgraphs = [await buildSubgraph('speeches', { resolvers: [SpeechResolver], orphanedTypes: [Speech] })];
  graph = await openGraph(subgraphs, {
    logger: logTo(logged),
    introspection: false,
    supergraph: composeSupergraph(subgraphs),
  });
});

/** The database statements of a mutation by name, with the last value of each: the answer, where it is stored. */
async function statementsOf(fields: string) {
  const statements: (readonly [string | undefined, unknown])[] = [];
  const query: Database['query'] = async ({ name, values = [] }) => {
    statements.push([name, values.at(-1)]);
    return [];
  };
  const context = {
    principal: nobody,
    payment: null,
    idempotency_key: 'a-key',
    vault: openVault('a secret'),
    random: systemRandom,
    database: { query } as Database,
    response: new ResponseHeaders(),
  };
  const document = graph.parse(`mutation { speak { ${fields} } }`);
  const { data, errors = [] } = await graph.execute({ document, variables: {}, context });
  const kept = statements.filter(([name]) => name === 'keep answer of write').map(([, box]) => box);
  return { data, codes: errors.map(({ extensions }) => extensions.code), kept };
}

describe('an answer under an Idempotency-Key', () => {
  it('that is too large is measured before it is written, and its request counts as carried out', async () => {
    // Together they are longer than the longest string in JavaScript: serializing them would throw.
    const fields = Array.from({ length: 99 }, (_, n) => `t${n}: text`).join(' ');
    expect(await statementsOf(fields)).toEqual({ data: null, codes: ['answer_too_large'], kept: [null] });
    expect(logged).toEqual([]);
  });

  it('that may be told, and not be kept, is told', async () => {
    const { data, codes, kept } = await statementsOf('text');
    expect([Object.keys(data ?? {}), codes, kept]).toEqual([['speak'], [], [null]]);
  });
});
