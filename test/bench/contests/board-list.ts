import { print } from 'graphql';
import { clearScratch, makeScratch } from '../../harness/scratch.ts';
import { openBackendCpu } from '../backends.ts';
import type { Child } from '../child/child.ts';
import {
  type Arena,
  atLeast,
  atMost,
  type Contest,
  type Line,
  type Measured,
  perSecond,
  type Side,
} from '../contest.ts';
import { fillBoard, pagePaths } from '../fill-board.ts';
import { drive, once } from '../load/callers.ts';
import { bytesOf } from '../load/connection.ts';
import type { ApolloReady } from '../serve-apollo.ts';
import type { GatewayReady } from '../servers/gateway.ts';
import type { PlainBoardGiven } from '../servers/plain-board.ts';
import { documentRunBy } from './document-run-by.ts';

const CALLERS = 32;
const SMALL = 1_000;
const PAGE_POSTS = 50;
/** More pages than the cache holds, so that a page is no longer cached when it is requested again. */
const PAGES = 20_000;

const POSTGRES = 'postgres_us';
const postgresUs = ({ counts, operations }: Measured) => (counts[POSTGRES] ?? Number.NaN) / operations;
const wholeUs = (measured: Measured) => measured.cpu_us / measured.operations + postgresUs(measured);
const postgresMs = (measured: Measured) => postgresUs(measured) / 1_000;
const wholeMs = (measured: Measured) => wholeUs(measured) / 1_000;

/** Pages of posts by REST beside the simplest graph over the same rows. */
export const boardList: Contest = {
  name: 'board-list',
  beside: 'Apollo Server, graphql-js, the same rows',
  lines: [
    { name: 'board page of 50 posts, REST', unit: 'pages/s', goal: atLeast(3), of: perSecond },
    { name: 'the same: CPU of the server and Postgres', unit: 'ms', goal: atMost(1 / 3), of: wholeMs, cpuUs: wholeUs },
    { name: 'the same: CPU of Postgres', unit: 'ms', goal: atMost(1), of: postgresMs },
  ],
  async open(arena) {
    const { stage, closing, quick } = arena;
    const posts = quick ? 30_000 : 100_000;
    const { database_url, gateway } = await boardOf(posts, arena);
    const given: PlainBoardGiven = { database_url };
    const plain = await stage.start<ApolloReady>({ file: 'plain-board', given }, closing);
    const query = print(documentRunBy('list_board_posts'));
    const asked = pagePaths(posts, PAGES).map(path => {
      const { limit, cursor } = Object.fromEntries(new URLSearchParams(path.split('?')[1]));
      const body = JSON.stringify({ query, variables: { limit: Number(limit), cursor } });
      return bytesOf({ method: 'POST', url: `${plain.ready.url}/graphql`, headers: {}, body });
    });
    const { url } = gateway.ready;
    const cpuUs = await openBackendCpu(database_url, closing);
    return {
      ours: withPostgres(cpuUs, await pages(url, gateway, restPages(url, posts), arena)),
      beside: withPostgres(cpuUs, await pages(plain.ready.url, plain, asked, arena)),
    };
  },
};

/** A list whose pages cost more as the board grows becomes slow. Postgres writes its pages, so its CPU counts too. */
export const boardGrowth: Contest = {
  name: 'board-growth',
  beside: 'at 1e3 posts',
  lines: linesOf('1e6'),
  quick_lines: linesOf('3e4'),
  async open(arena) {
    const side = async (posts: number) => {
      const { database_url, gateway } = await boardOf(posts, arena);
      const { url } = gateway.ready;
      const cpuUs = await openBackendCpu(database_url, arena.closing);
      return withPostgres(cpuUs, await pages(url, gateway, restPages(url, posts), arena));
    };
    return { ours: await side(arena.quick ? 30_000 : 1_000_000), beside: await side(SMALL) };
  },
};

function linesOf(posts: string): readonly Line[] {
  const cost = `CPU of a board page at ${posts} posts, the service and Postgres`;
  return [
    { name: cost, unit: 'ms', goal: atMost(1.5), of: wholeMs, cpuUs: wholeUs },
    { name: 'the same: of Postgres alone', unit: 'ms', goal: atMost(1.5), of: postgresMs },
    { name: `the same: pages of a board of ${posts} posts`, unit: 'pages/s', goal: atLeast(1 / 1.5), of: perSecond },
  ];
}

function withPostgres(cpuUs: () => Promise<number>, side: Side): Side {
  return {
    async round() {
      const before_us = await cpuUs();
      const measured = await side.round();
      return { ...measured, counts: { ...measured.counts, [POSTGRES]: (await cpuUs()) - before_us } };
    },
  };
}

/** Starts the service with a board of that many posts. */
async function boardOf(
  posts: number,
  { stage, closing }: Arena,
): Promise<{ database_url: string; gateway: Child<GatewayReady> }> {
  const database_url = await stage.database();
  await fillBoard(database_url, posts);
  const DATA_DIR = closing.adopt(await makeScratch(), clearScratch);
  const gateway = await stage.startGateway({ DATABASE_URL: database_url, DATA_DIR }, closing);
  return { database_url, gateway };
}

const restPages = (url: string, posts: number) =>
  pagePaths(posts, PAGES).map(path => bytesOf({ method: 'GET', url: url + path }));

async function pages(url: string, server: Child, requests: readonly Buffer[], { seconds }: Arena): Promise<Side> {
  const [first] = requests;
  if (!first) throw new Error('there is no page');
  const { body } = await once(url, first);
  if (body.match(/"post_id":/g)?.length !== PAGE_POSTS) throw new Error(`not a page of ${PAGE_POSTS} posts: ${body}`);
  let turn = 0;
  const request = () => requests[turn++ % requests.length];
  return { round: () => drive({ url, servers: [server], request, seconds, callers: CALLERS, status: 200 }) };
}
