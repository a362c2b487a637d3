import { booksOf, type Principal } from '../../schema/principal.ts';
import type { Context } from '../../subgraphs/context.ts';
import type { Graph } from '../graph/open-graph.ts';
import type { Operation } from '../graph/source.ts';
import type { SubscribeResult } from '../graph/subscribe.ts';
import type { Delivery } from './delivery.ts';
import { Group, Pace } from './group.ts';
import { Member } from './member.ts';
import { AFTER, type Shareable, shareable } from './shareable.ts';

export interface SocketOperation extends Operation {
  readonly context: Context;
}

/** Bytes of past events that are kept per group and in total, so that a client with thousands of groups cannot fill the memory. */
const REMEMBERED_BYTES_MAX = 128 * 1024;
const REMEMBERED_BYTES_MAX_BY_ALL = 64 * 1024 * 1024;

/** Finds or opens, for each subscriber, the group of this process with the same events and rights. */
export class SharedSubscriptions {
  readonly #graph: Graph;
  readonly #catchUp: () => Promise<void>;
  readonly #hasPaid: () => boolean;
  readonly #groups = new Map<string, Group>();
  readonly #pace = new Pace();

  constructor(graph: Graph, heard: () => Promise<void>, hasPaid: () => boolean) {
    this.#graph = graph;
    this.#catchUp = heard;
    this.#hasPaid = hasPaid;
  }

  /** Subscribes in a group. Null if the operation cannot be shared, or is refused; it is executed separately then. */
  async subscribe(operation: SocketOperation, delivery: Delivery): Promise<SubscribeResult | null> {
    const shared = shareable(this.#graph, operation);
    if (!shared) return null;
    const key = keyOf(shared, operation.context.principal);
    const group = this.#groups.get(key) ?? this.#open(key, shared, operation.context);
    const member = new Member(group, delivery, shared.after);
    group.enter(member);
    try {
      if ((await group.opened) === null) return member;
    } catch {
      // The operation is executed separately, and reports its own error.
    }
    await member.return();
    return null;
  }

  #open(key: string, shared: Shareable, context: Context): Group {
    const { text, operationName, variables, response_name, remembered } = shared;
    const group = new Group({
      response_name,
      pace: this.#pace,
      hasPaid: this.#hasPaid,
      remembered_bytes_max: () =>
        remembered ? Math.min(REMEMBERED_BYTES_MAX, REMEMBERED_BYTES_MAX_BY_ALL / this.#groups.size) : 0,
      execute: after =>
        this.#graph.subscribe({
          document: this.#graph.parse(text),
          operationName,
          variables: { ...variables, [AFTER]: after },
          context,
        }),
      catchUp: async () => {
        if (context.principal.possession.kind !== 'absent') await this.#catchUp();
      },
      onRelease: ended => {
        if (this.#groups.get(key) === ended) this.#groups.delete(key);
      },
    });
    this.#groups.set(key, group);
    return group;
  }
}

/**
 * Key of a group. It contains everything that the events depend on, and all rights that a resolver may check, so that any difference leads
 * to another group.
 */
function keyOf({ text, operationName, variables }: Shareable, { possession, api_key }: Principal): string {
  const held = booksOf(possession).map(({ agent_id, session_hash, by }) => [agent_id, session_hash, by]);
  const key = api_key.kind === 'absent' || api_key.kind === 'unknown' ? [] : [api_key.hash];
  return JSON.stringify([text, operationName, variables, possession.kind, held, api_key.kind, ...key]);
}
