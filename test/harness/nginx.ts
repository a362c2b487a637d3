import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ownPort } from './own-port.ts';
import { atEnd } from './release.ts';
import { clearScratch, makeScratch } from './scratch.ts';

const READY_MS = 20_000;

/**
 * Debian's nginx in front of a service, set up as its manual shows: `proxy_pass`, and every buffer at its default. A test can pass another
 * `location`.
 */
export async function startNginx(
  target: string,
  location = `location / { proxy_pass ${target}; }`,
): Promise<{ readonly url: string }> {
  const folder = await makeScratch();
  const port = await ownPort();
  await mkdir(join(folder, 'logs'));
  await writeFile(join(folder, 'nginx.conf'), configuration(location, port));
  const child = spawn('nginx', ['-p', folder, '-c', 'nginx.conf', '-e', 'logs/error.log', '-g', 'daemon off;'], {
    // Debian installs it there, which is not on every user's PATH.
    env: { PATH: `${process.env.PATH}:/usr/sbin` },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk;
  });
  await once(child, 'spawn').catch((cause: Error) => {
    throw new Error('There is no nginx: install the package nginx-light (apt-get).', { cause });
  });
  atEnd(async () => {
    const ended = child.exitCode === null ? once(child, 'exit') : null;
    child.kill('SIGTERM');
    await ended;
    await clearScratch(folder);
  });
  const url = `http://127.0.0.1:${port}`;
  await answers(url, child, () => said);
  return { url };
}

/** Debian's own configuration except for paths, so that processes, logs and temporary files belong to this test. */
function configuration(location: string, port: number): string {
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(name => `${name}_temp_path logs/${name};`);
  return `user ${userInfo().username};
worker_processes 1;
pid nginx.pid;
events { worker_connections 768; }
http {
  sendfile on;
  tcp_nopush on;
  default_type application/octet-stream;
  gzip on;
  map $http_upgrade $connection_upgrade { default upgrade; '' close; }
  access_log off;
  ${places.join('\n  ')}
  server {
    listen 127.0.0.1:${port};
    ${location}
  }
}
`;
}

async function answers(url: string, child: ChildProcess, said: () => string): Promise<void> {
  const deadline_ms = Date.now() + READY_MS;
  while (child.exitCode === null && Date.now() < deadline_ms) {
    const answer = await fetch(`${url}/livez`).catch(() => null);
    await answer?.body?.cancel();
    if (answer?.ok) return;
    await sleep(25);
  }
  throw new Error(`nginx did not come up:\n${said()}`);
}
