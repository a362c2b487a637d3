import { pino } from 'pino';
import {
  Arg,
  Ctx,
  Directive,
  Field,
  FieldResolver,
  Int,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
  Subscription,
} from 'type-graphql';
import { composeSupergraph } from '../../../gateway/graph/compose.ts';
import { type Graph, openGraph } from '../../../gateway/graph/open-graph.ts';
import type { AtomicAmount } from '../../../schema/amount.ts';
import { Refusal } from '../../../schema/errors.ts';
import { nobody, type Principal } from '../../../schema/principal.ts';
import { AtomicAmountScalar } from '../../../schema/scalars.ts';
import { type Context, ResponseHeaders } from '../../../subgraphs/context.ts';
import { buildSubgraph } from '../../../subgraphs/subgraph.ts';

/** A graph of two tiny subgraphs that uses each feature of the real ones: a join, a paid field, live events and every kind of failure. */
export interface ShopContext extends Context {
  readonly shop: Shop;
}

export class Shop {
  /** Sales on the live feed, which the test pushes. `released` is true once the reader has closed the feed. */
  readonly sales = new Feed();
  bought = 0;
  /** References of the slips that were loaded, one entry for each look-up. */
  readonly looked_up: string[] = [];
}

@Directive('@key(fields: "ref", resolvable: false)')
@ObjectType('Slip')
class SlipReference {
  @Field(() => String) ref!: string;
}

@ObjectType()
export class Sale {
  @Field(() => Int) position!: number;
  @Field(() => String) item!: string;
  /** Reference of the slip. Null if the sale has no slip; `lost` names a slip that does not exist. */
  slip_ref!: string | null;
}

@Resolver(() => Sale)
class SaleResolver {
  @Query(() => [Sale])
  sales(@Arg('first', () => Int, { defaultValue: 2 }) first: number): Sale[] {
    return ['apple', 'pear', 'plum'].slice(0, first).map((item, index) => sale(index + 1, item));
  }

  @Query(() => Sale)
  lostSale(): Sale {
    return { position: 9, item: 'fig', slip_ref: 'lost' };
  }

  @FieldResolver(() => SlipReference, { nullable: true })
  slip(@Root() { slip_ref }: Sale): SlipReference | null {
    return slip_ref === null ? null : { ref: slip_ref };
  }

  @Query(() => String)
  closed(@Ctx() _context: ShopContext): string {
    throw new Refusal('forbidden', { param: 'door', facts: { opens_at: '08:00' } });
  }

  @Query(() => Boolean)
  affords(@Arg('amount', () => AtomicAmountScalar) amount: AtomicAmount): boolean {
    return amount >= 2000n;
  }

  @Query(() => String)
  broken(): string {
    throw new TypeError('the till at 10.0.0.7 burns');
  }

  @Mutation(() => Sale)
  @Directive('@paid(price: "2000")')
  buy(@Arg('item', () => String) item: string, @Ctx() context: ShopContext): Sale {
    if (!context.payment) {
      throw new Refusal('payment_required', {
        facts: { accepts: ['base'], answer_headers: { 'PAYMENT-REQUIRED': 'b2ZmZXI=' } },
      });
    }
    context.response.headers['PAYMENT-RESPONSE'] = 'c2V0dGxlZA==';
    context.shop.bought++;
    return sale(1, item);
  }

  @Mutation(() => Boolean)
  greet(): boolean {
    return true;
  }

  @Subscription(() => Sale, { subscribe: ({ context }) => (context as ShopContext).shop.sales })
  sold(@Root() event: Sale, @Arg('from', () => Int, { nullable: true }) _from?: number): Sale {
    return event;
  }
}

@Directive('@key(fields: "ref")')
@ObjectType()
class Slip {
  @Field(() => String) ref!: string;
  @Field(() => String) url!: string;
}

@Resolver(() => Slip)
class SlipResolver {
  @Query(() => Slip, { nullable: true })
  slip(@Arg('ref', () => String) ref: string): Slip | null {
    return slip(ref);
  }
}

export function sale(position: number, item: string): Sale {
  return { position, item, slip_ref: `slip-${position}` };
}

function slip(ref: string): Slip | null {
  return ref === 'lost' ? null : { ref, url: `https://shop.example/${ref}` };
}

export async function openShop(options: { log?: string[]; introspection?: boolean } = {}): Promise<Graph> {
  const subgraphs = [
    await buildSubgraph('till', { resolvers: [SaleResolver], orphanedTypes: [Sale, SlipReference] }),
    await buildSubgraph('slips', { resolvers: [SlipResolver], orphanedTypes: [Slip] }, { Slip: resolveSlip }),
  ];
  return openGraph(subgraphs, {
    logger: logTo(options.log ?? []),
    introspection: options.introspection ?? true,
    supergraph: composeSupergraph(subgraphs),
  });
}

function resolveSlip({ ref }: { ref: string }, { shop }: ShopContext): Slip | null {
  shop.looked_up.push(ref);
  return slip(ref);
}

export function logTo(lines: string[]) {
  return pino({}, { write: (line: string) => void lines.push(line) });
}

export function shopContext(shop: Shop, caller: { principal?: Principal; pays?: boolean } = {}): ShopContext {
  const payment = caller.pays ? { x402_version: 2 as const, envelope: {} } : null;
  const context = {
    shop,
    principal: caller.principal ?? nobody,
    payment,
    idempotency_key: null,
    response: new ResponseHeaders(),
  };
  // The cast is safe, because the shop uses none of the services that a real context has.
  return context as unknown as ShopContext;
}

/** A source of events that the test pushes. It records whether its reader has closed it. */
export class Feed implements AsyncIterableIterator<Sale> {
  released = false;
  #events: Sale[] = [];
  #waiting: ((result: IteratorResult<Sale>) => void) | null = null;

  push(event: Sale): void {
    if (this.#waiting) this.#waiting({ done: false, value: event });
    else this.#events.push(event);
    this.#waiting = null;
  }

  next(): Promise<IteratorResult<Sale>> {
    const event = this.#events.shift();
    if (event) return Promise.resolve({ done: false, value: event });
    if (this.released) return Promise.resolve({ done: true, value: undefined });
    return new Promise(resolve => {
      this.#waiting = resolve;
    });
  }

  async return(): Promise<IteratorResult<Sale>> {
    this.released = true;
    this.#waiting?.({ done: true, value: undefined });
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

/** A guard for callers on sockets that never reports a halt of the log. */
export const neverHalted = { requireNotHalted: () => {}, halted: new Promise<void>(() => {}) };
