import { atLeast, type Contest, perSecond } from '../contest.ts';
import type { ApolloReady } from '../serve-apollo.ts';
import type { PlainApolloGiven } from '../servers/plain-apollo.ts';
import { graphqlPage, restPage } from './book-page.ts';

export const pageByRest: Contest = {
  name: 'page-rest',
  beside: 'Apollo Server, graphql-js, the same rows',
  lines: [{ name: 'book page of 50 rows, REST', unit: 'pages/s', goal: atLeast(3), of: perSecond }],
  async open(arena) {
    const { stage, closing } = arena;
    const gateway = await stage.gateway();
    const { agent_id, session } = await stage.book();
    const given: PlainApolloGiven = { database_url: await stage.gateway_database() };
    const plain = await stage.start<ApolloReady>({ file: 'plain-apollo', given }, closing);
    const own = { url: gateway.ready.url, servers: [gateway], headers: { 'x-svc-session': session } };
    return {
      ours: await restPage(own, agent_id, arena),
      beside: await graphqlPage({ url: plain.ready.url, servers: [plain] }, agent_id, arena),
    };
  },
};
