import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { expectedBytes } from '../../rest-compat/http/body.ts';
import type { Port } from '../../rest-compat/port.ts';
import { limits } from '../../schema/limits.ts';
import { refuseTooMany } from './graphql-answer.ts';

export interface BodyBounds {
  readonly rates: Pick<Port['rates'], 'hold' | 'crowded'>;
  /** Whether the request shows a payment that its payer has signed: such a caller is never limited by address. */
  pays(request: FastifyRequest): Promise<boolean>;
}

const RETRY_SECONDS = 1;

/** Room for a body by address, as at the doors: taken before it is read, and given back once it has been, or comes no more. */
export function boundBodies(scope: FastifyInstance, { rates, pays }: BodyBounds, logger: Logger): void {
  const held = new WeakMap<FastifyRequest, () => void>();
  scope.addHook('onRequest', async (request, reply) => {
    const bytes = expectedBytes(request.raw, limits.request_bytes_max);
    const release = bytes === 0 ? () => {} : rates.hold(request.ip, bytes);
    if (release) {
      held.set(request, release);
      reply.raw.once('close', () => giveBack(held, request));
    } else if (!(await pays(request)))
      return refuseTooMany(RETRY_SECONDS, request, reply.headers({ ...rates.crowded, connection: 'close' }), logger);
  });
  scope.addHook('preHandler', (request, _reply, done) => {
    giveBack(held, request);
    done();
  });
}

function giveBack(held: WeakMap<FastifyRequest, () => void>, request: FastifyRequest): void {
  held.get(request)?.();
  held.delete(request);
}
