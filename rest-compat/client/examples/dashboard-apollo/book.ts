import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { createClient } from 'graphql-ws';

/*
 * What the dashboard shows of a book, kept up to date by Apollo Client: a query for the present, and a subscription that
 * says when something has happened.
 */

/** The fields that identify a row let the cache hold each row once, wherever it comes from. */
const ROW = gql`
  fragment DashboardRow on BookRow {
    agentId
    seq
    taskId
    evidence
    collectedAt
    route { model }
    payment { amount }
  }
`;
const BOOK = gql`
  query Dashboard($agentId: Int!) {
    book(agentId: $agentId) {
      agentId
      spent
      remaining
      rows(first: 20) { edges { node { ...DashboardRow } } }
      totalsBy(by: [MODEL]) { key count amount }
    }
  }
  ${ROW}
`;
const EVENTS = gql`
  subscription DashboardEvents($agentId: Int!) {
    bookRows(agentId: $agentId) { position kind row { ...DashboardRow } }
  }
  ${ROW}
`;

/** Amounts are strings of digits in atomic USDC: 6 decimals. */
export interface DashboardBook {
  readonly spent: string;
  /** Null without a budget. */
  readonly remaining: string | null;
  readonly rows: { readonly edges: readonly { readonly node: DashboardRow }[] };
  readonly totalsBy: readonly { readonly key: string | null; readonly count: number; readonly amount: string }[];
}
interface DashboardRow {
  readonly seq: number;
  readonly taskId: string;
  readonly evidence: string;
  readonly collectedAt: string;
  readonly route: { readonly model: string | null };
  readonly payment: { readonly amount: string | null };
}

interface WatchedBook {
  readonly service: string;
  readonly agent_id: number;
  readonly session: string;
  show(book: DashboardBook): void;
  fail(fault: unknown): void;
}

/** Shows a book now and after each of its events, until the result is called. */
export function watchDashboardBook({ service, agent_id, session, show, fail }: WatchedBook): () => void {
  const cache = new InMemoryCache({
    typePolicies: { Book: { keyFields: ['agentId'] }, BookRow: { keyFields: ['agentId', 'seq'] } },
  });
  const http = new HttpLink({ uri: `${service}/graphql`, headers: { 'X-SVC-Session': session } });
  const client = new ApolloClient({ link: http, cache });
  const book = client.watchQuery<{ book: DashboardBook }>({ query: BOOK, variables: { agentId: agent_id } });
  const refetch = () => void book.refetch().catch(fail);
  const socket = createClient({
    url: `${service.replace(/^http/, 'ws')}/graphql`,
    connectionParams: { session },
    retryAttempts: Number.POSITIVE_INFINITY,
    // The socket delivers each event from now on, so the book is read again for earlier changes.
    on: { connected: refetch },
  });
  const live = new ApolloClient({ link: new GraphQLWsLink(socket), cache });
  const reading = book.subscribe({
    next: ({ data, error }) => (error ? fail(error) : data?.book && show(data.book as DashboardBook)),
  });
  const following = live
    .subscribe({ query: EVENTS, variables: { agentId: agent_id } })
    .subscribe({ next: ({ error }) => (error ? fail(error) : refetch()), error: fail });
  return () => {
    reading.unsubscribe();
    following.unsubscribe();
    void socket.dispose();
  };
}
