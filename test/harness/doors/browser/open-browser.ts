import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { build } from 'esbuild';
import { chromium, type Page } from 'playwright-core';
import { atEnd } from '../../release.ts';
import type { BrowserBuyer } from './page.ts';

const CHROMIUM = '/usr/bin/chromium';

/** Options that stop the browser from opening connections of its own. Only the page and the service are contacted. */
const args = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A page of another origin than the service, in an unmodified browser, with calls that run in it. */
export async function openPage() {
  const origin = await serve(await bundle('page.ts'));
  const page = await openEmptyPage();
  await page.goto(origin);
  return { origin, ...calls(page) };
}

/** An empty page. */
export async function openEmptyPage(): Promise<Page> {
  if (!existsSync(CHROMIUM))
    throw new Error(`${CHROMIUM} is not there: install Debian's package "chromium" (apt-get install chromium)`);
  const browser = await chromium.launch({ executablePath: CHROMIUM, args });
  atEnd(() => browser.close());
  return browser.newPage();
}

function calls(page: Page) {
  const call = <K extends keyof BrowserBuyer>(name: K, ...given: Parameters<BrowserBuyer[K]>) =>
    page.evaluate(
      ([called, ...values]) =>
        (globalThis as unknown as { buyer: Record<string, (...values: unknown[]) => unknown> }).buyer[called]?.(
          ...values,
        ),
      [name, ...given] as [string, ...unknown[]],
    ) as ReturnType<BrowserBuyer[K]>;
  return {
    knock: (...given: Parameters<BrowserBuyer['knock']>) => call('knock', ...given),
    buy: (...given: Parameters<BrowserBuyer['buy']>) => call('buy', ...given),
    hear: (...given: Parameters<BrowserBuyer['hear']>) => call('hear', ...given),
  };
}

async function bundle(name: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, name)],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
  });
  return outputFiles[0]?.text ?? '';
}

/** Serves that script on a page. @returns the origin */
async function serve(script: string): Promise<string> {
  const files: Readonly<Record<string, [string, string]>> = {
    '/': ['text/html', '<!doctype html><script type="module" src="/page.js"></script>'],
    '/page.js': ['text/javascript', script],
  };
  const server = createServer((request, response) => {
    const [type, text] = files[request.url ?? ''] ?? ['text/plain', ''];
    response.setHeader('content-type', `${type}; charset=utf-8`).end(text);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => server.closeAllConnections());
  atEnd(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
