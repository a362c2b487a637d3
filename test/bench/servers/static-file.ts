import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import fastify from 'fastify';
import { serveTasks, startOptions } from '../child/answer.ts';

export interface StaticFileGiven {
  readonly folder: string;
  readonly path: string;
  /** Content of the file in base64. */
  readonly bytes: string;
}

export interface StaticFileReady {
  readonly url: string;
}

/** Serves one file of a folder by @fastify/static, which opens and reads it at each request. */
const { folder, path, bytes } = startOptions<StaticFileGiven>();
await mkdir(folder, { recursive: true });
await writeFile(join(folder, path), Buffer.from(bytes, 'base64'));
const app = fastify();
await app.register(fastifyStatic, { root: folder, immutable: true, maxAge: '365d' });
const ready: StaticFileReady = { url: await app.listen({ host: '127.0.0.1', port: 0 }) };
serveTasks(ready, {}, () => app.close());
