import type { ServerOptions } from 'graphql-ws';

type Dropped = 'slow' | 'flood';

/** What the sockets of a gateway do, in plain numbers: to count a delivery must cost nothing beside it. */
export class SocketTally {
  deliveries = 0;
  readonly dropped: Record<Dropped, number> = { slow: 0, flood: 0 };
  readonly #open = new Set<{ readonly subscriptions: object }>();

  get open(): number {
    return this.#open.size;
  }

  get operations(): number {
    let operations = 0;
    for (const { subscriptions } of this.#open) operations += Object.keys(subscriptions).length;
    return operations;
  }

  /** The same protocol, counted: sockets from their acknowledgement on, and what graphql-ws sends by itself. */
  counted<P extends Record<string, unknown> | undefined, E>(protocol: ServerOptions<P, E>): ServerOptions<P, E> {
    return {
      ...protocol,
      onConnect: context => {
        this.#open.add(context);
        return protocol.onConnect?.(context);
      },
      onClose: (context, ...why) => {
        this.#open.delete(context);
        return protocol.onClose?.(context, ...why);
      },
      onNext: (...sent) => {
        this.deliveries++;
        return protocol.onNext?.(...sent);
      },
    };
  }
}
