import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { limits } from '../schema/limits.ts';
import { problem } from './problem.ts';

/** What Fastify finds wrong with a URL before any route: a broken escape, a segment too long. */
function frameworkErrors(error: FastifyError, _request: FastifyRequest, reply: FastifyReply): void {
  const long = error.code === 'FST_ERR_MAX_PARAM_LENGTH';
  const { status, headers, body } = problem({ code: long ? 'not_found' : 'invalid_request' });
  reply.code(status).headers(headers).send(body);
}

/** What the doors need of the server that they are hung in. */
export const doorServerOptions = {
  routerOptions: { ignoreTrailingSlash: true, maxParamLength: limits.path_parameter_chars_max },
  frameworkErrors,
};
