import { setTimeout as sleep } from 'node:timers/promises';
import {
  Arg,
  Ctx,
  Directive,
  Field,
  FieldResolver,
  Int,
  ObjectType,
  Query,
  Resolver,
  Root,
  Subscription,
} from 'type-graphql';
import { composeSupergraph } from '../../../gateway/graph/compose.ts';
import { openGraph } from '../../../gateway/graph/open-graph.ts';
import { openServer } from '../../../gateway/http/server.ts';
import { type AgentId, agentId } from '../../../schema/ids.ts';
import { nobody, type Principal } from '../../../schema/principal.ts';
import { requirePossession } from '../../../subgraphs/access.ts';
import { bookFeed } from '../../../subgraphs/book/page/feed.resolver.ts';
import type { Context } from '../../../subgraphs/context.ts';
import type { Live, SessionWatcher, Wake } from '../../../subgraphs/live.ts';
import { shareReads } from '../../../subgraphs/live-feed.ts';
import { buildSubgraph } from '../../../subgraphs/subgraph.ts';
import { logTo, neverHalted, Shop, shopContext } from './shop.ts';

@ObjectType()
export class Tick {
  @Field(() => Int) position!: number;
  @Field(() => String) text!: string;
}

/** A ledger in memory with one live field. It counts the work that is done for its readers. */
export class Ticker implements Live {
  readonly ticks: Tick[] = [];
  readonly #watchers = new Set<Wake>();
  /** Positions whose text was resolved, with one entry for each execution. */
  readonly executed: number[] = [];
  opened = 0;
  released = 0;
  reads = 0;
  lookUps = 0;
  lookUps_at_once = 0;
  /** Makes the error of each execution. Null if executions succeed. */
  fault: (() => Error) | null = null;
  watcher: SessionWatcher | null = null;
  readonly read = shareReads<number, Tick>(async (_agent, after, limit) => {
    this.reads++;
    await sleep(1);
    return this.ticks.slice(after, after + limit);
  });

  append(text = 'tick'): void {
    this.ticks.push({ position: this.ticks.length + 1, text });
    for (const wake of this.#watchers) wake(this.ticks.length);
  }

  async watch(_agent_id: number, wake: Wake): Promise<() => void> {
    this.#watchers.add(wake);
    return () => this.#watchers.delete(wake);
  }

  async watchSessions(watcher: SessionWatcher): Promise<() => void> {
    this.watcher = watcher;
    return () => {};
  }

  async catchUp(): Promise<void> {
    await new Promise(setImmediate);
  }

  async close(): Promise<void> {}

  follow(agent_id: AgentId, after: number | null): AsyncIterableIterator<Tick> {
    this.opened++;
    const newest = this.ticks.length;
    const start = after !== null && after >= 0 ? after : Math.max(0, newest + (after ?? 0));
    const feed = bookFeed(this, this.read, agent_id, start);
    const giveBack = feed.return?.bind(feed);
    let released = false;
    feed.return = async () => {
      if (!released) this.released++;
      released = true;
      return (await giveBack?.()) ?? { done: true, value: undefined };
    };
    return feed;
  }
}

interface TickerContext extends Context {
  readonly ticker: Ticker;
}

@Resolver(() => Tick)
class TickResolver {
  @Query(() => Int)
  kept(@Ctx() { ticker }: TickerContext): number {
    return ticker.ticks.length;
  }

  @Subscription(() => Tick, {
    subscribe: ({ args, context }) => {
      const { principal, ticker } = context as TickerContext;
      return ticker.follow(requirePossession(principal, args.agentId), args.after ?? null);
    },
  })
  @Directive('@live(after: "after", position: "position")')
  ticks(
    @Root() tick: Tick,
    @Arg('agentId', () => Int) _agentId: number,
    @Arg('after', () => Int, { nullable: true }) _after: number | null,
    @Arg('note', () => String, { nullable: true }) _note: string | null,
  ): Tick {
    return tick;
  }

  @FieldResolver(() => String)
  text(@Root() { position, text }: Tick, @Ctx() { ticker }: TickerContext): string {
    if (ticker.fault) throw ticker.fault();
    ticker.executed.push(position);
    return text;
  }
}

/** A server of one live field. Valid sessions are `of AGENT` and `of AGENT again`; any other is refused. */
export async function openTicker() {
  const ticker = new Ticker();
  const dead = new Set<string>();
  let running = 0;
  const subgraphs = [await buildSubgraph('ticker', { resolvers: [TickResolver], orphanedTypes: [Tick] })];
  const supergraph = composeSupergraph(subgraphs);
  const graph = await openGraph(subgraphs, { logger: logTo([]), introspection: true, supergraph });
  const contextOf = (principal: Principal): TickerContext => ({ ...shopContext(new Shop(), { principal }), ticker });
  const server = await openServer({
    graph,
    createContext: async () => contextOf(nobody),
    callers: {
      ...neverHalted,
      bookOfSession: async () => null,
      keep: async () => null,
      async identify({ sessions: [session = null], address }) {
        ticker.lookUps++;
        running++;
        ticker.lookUps_at_once = Math.max(running, ticker.lookUps_at_once);
        await sleep(5);
        running--;
        const agent = Number(/^of (\d+)/.exec(session ?? '')?.[1]);
        if (session === null) return { ...nobody, address };
        if (!agent || dead.has(session)) return { ...nobody, address, possession: { kind: 'wrong' } };
        const held = { agent_id: agentId(agent), session_hash: session, by: 'session' } as const;
        return { ...nobody, address, possession: { kind: 'proven', ...held } };
      },
      createContext: contextOf,
      watchSessions: watcher => ticker.watchSessions(watcher),
      catchUp: () => ticker.catchUp(),
    },
    logger: logTo([]),
    graphiql: false,
  });
  const url = `${(await server.listen('127.0.0.1', 0)).replace('http', 'ws')}/graphql`;
  return { ticker, dead, url, close: () => server.close() };
}
