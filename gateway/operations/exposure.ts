import type { FastifyInstance } from 'fastify';
import { problem } from '../../rest-compat/problem.ts';
import { sameSecret } from '../../schema/digest.ts';
import type { Metrics } from './metrics.ts';

/* Serves GET /metrics to whoever may read it. */

/** Who may read the metrics: whoever shows the token; without one anybody in development, and nobody else. */
export interface Exposure {
  readonly token: string | null;
  readonly profile: 'development' | 'production';
}

/** Serves GET /metrics. To others it answers as any path does that is not there. */
export function exposeMetrics(app: FastifyInstance, metrics: Metrics, exposure: Exposure): void {
  app.get('/metrics', async (request, reply) => {
    reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff');
    if (mayRead(exposure, request.headers.authorization))
      return reply.type(metrics.media).send(await metrics.exposed());
    const { status, headers, body } = problem({ code: 'not_found' });
    return reply.code(status).headers(headers).send(body);
  });
}

export function mayRead({ token, profile }: Exposure, authorization: string | undefined): boolean {
  if (token === null) return profile === 'development';
  const [, shown = ''] = /^Bearer +(\S+) *$/i.exec(authorization ?? '') ?? [];
  return sameSecret(shown, token);
}
