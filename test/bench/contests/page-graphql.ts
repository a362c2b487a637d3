import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';
import { type Arena, atLeast, type Contest, perSecond, type Side } from '../contest.ts';
import { type PlainSubgraph, plainSubgraphs } from '../plain-subgraphs.ts';
import type { ApolloReady } from '../serve-apollo.ts';
import type { ApolloGatewayOptions } from '../servers/apollo-gateway.ts';
import type { ApolloSubgraphGiven } from '../servers/apollo-subgraph.ts';
import type { Stage } from '../stage.ts';
import { graphqlPage, type PageServer } from './book-page.ts';

const beside = 'ApolloGateway, two subgraphs over HTTP';

/** The REST endpoint's document by /graphql, with planner, executor and subgraphs in one process. */
export const pageInProcess: Contest = {
  name: 'page-graphql',
  beside,
  lines: [{ name: 'the same by GraphQL, subgraphs in process', unit: 'pages/s', goal: atLeast(5), of: perSecond }],
  async open(arena) {
    const gateway = await arena.stage.gateway();
    const { agent_id, session } = await arena.stage.book();
    const own = { url: gateway.ready.url, servers: [gateway], headers: { 'x-svc-session': session } };
    return { ours: await graphqlPage(own, agent_id, arena), beside: await stockGateway(arena) };
  },
};

export const pageRemote: Contest = {
  name: 'page-remote',
  beside,
  lines: [{ name: 'the same by GraphQL, remote subgraphs', unit: 'pages/s', goal: atLeast(1.5), of: perSecond }],
  async open(arena) {
    return { ours: await remoteGateway(arena), beside: await stockGateway(arena) };
  },
};

/** The same gateway with two subgraphs as separate processes. */
async function remoteGateway(arena: Arena): Promise<Side> {
  const { stage, closing } = arena;
  const subgraphs = await Promise.all(
    (['book', 'receipt'] as const).map(async name => ({
      name,
      child: await stage.startGateway({ SUBGRAPH: name }, closing),
    })),
  );
  const urls = Object.fromEntries(subgraphs.map(({ name, child }) => [name, child.ready.url]));
  const gateway = await stage.startGateway({ SUBGRAPH_URLS: JSON.stringify(urls) }, closing);
  const { agent_id, session } = await stage.book();
  const servers = [gateway, ...subgraphs.map(({ child }) => child)];
  return graphqlPage({ url: gateway.ready.url, servers, headers: { 'x-svc-session': session } }, agent_id, arena);
}

/** Apollo's three processes, which are started once because both contests are compared with them. */
const stock = new WeakMap<Stage, Promise<PageServer>>();

async function stockGateway(arena: Arena): Promise<Side> {
  const { stage } = arena;
  const serving = stock.get(stage) ?? startStockGateway(stage);
  stock.set(stage, serving);
  const { agent_id } = await stage.book();
  return graphqlPage(await serving, agent_id, arena);
}

async function startStockGateway(stage: Stage): Promise<PageServer> {
  const database_url = await stage.gateway_database();
  const subgraphs = await Promise.all(
    (['book', 'receipt'] as const).map(async (name: PlainSubgraph) => {
      const given: ApolloSubgraphGiven = { name, database_url };
      return { name, child: await stage.start<ApolloReady>({ file: 'apollo-subgraph', given }) };
    }),
  );
  const { supergraphSdl: supergraph, errors } = composeServices(
    subgraphs.map(({ name, child }) => ({
      name,
      url: `${child.ready.url}/graphql`,
      typeDefs: parse(plainSubgraphs[name].typeDefs),
    })),
  );
  if (!supergraph) throw new AggregateError(errors ?? [], 'the stock subgraphs do not compose');
  const given: ApolloGatewayOptions = { supergraph };
  const gateway = await stage.start<ApolloReady>({ file: 'apollo-gateway', given });
  return { url: gateway.ready.url, servers: [gateway, ...subgraphs.map(({ child }) => child)] };
}
