import { Script } from 'node:vm';
import { pageProgram } from '../../../../gateway/development/verifier-program.ts';

/* Runs the program of a receipt's page without a browser, on the few elements that it looks up. */

/** Texts that the program has written into the page. */
export interface PageOutput {
  readonly verdict: string;
  readonly headline: string;
  readonly detail: string;
  /** Status, label and sentence of each check. */
  readonly checks: readonly (readonly [status: string, word: string, text: string])[];
}

interface Element {
  textContent: string;
  readonly dataset: Record<string, string>;
  children: Element[];
  setAttribute(name: string, value: string): void;
  append(...children: Element[]): void;
  replaceChildren(...children: Element[]): void;
  querySelector(selector: string): Element | undefined;
}

function element(textContent = ''): Element {
  const parts = new Map<string, Element>();
  const made: Element = {
    textContent,
    dataset: {},
    children: [],
    setAttribute(name, value) {
      if (name.startsWith('data-')) made.dataset[name.slice(5)] = value;
    },
    append: (...children) => void made.children.push(...children),
    replaceChildren(...children) {
      made.children = children;
    },
    querySelector(selector) {
      const part = parts.get(selector) ?? element();
      parts.set(selector, part);
      return part;
    },
  };
  return made;
}

const FACT = /data-fact="([^"]+)">(?:<bdi>)?([^<]*)</g;
const unescaped = (text: string) =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

/** Runs the program on a page of the service, which a test may have altered. */
export async function runPage(html: string): Promise<PageOutput> {
  const [, evidence = ''] = /<script type="application\/json" id="evidence">(.*?)<\/script>/s.exec(html) ?? [];
  const byId = new Map([
    ['evidence', element(evidence)],
    ['verdict', element()],
    ['made', element()],
  ]);
  const facts = [...html.matchAll(FACT)].map(([, fact = '', text = '']) => {
    const made = element(unescaped(text));
    made.dataset.fact = fact;
    return made;
  });
  const document = {
    title: '',
    body: element(),
    getElementById: (id: string) => byId.get(id) ?? null,
    querySelectorAll: () => facts,
    createElement: () => element(),
  };
  // The globals that every browser has. Nothing of Node may be among them.
  const browser = { TextEncoder, TextDecoder, atob, btoa, URL, document } as Record<string, unknown>;
  browser.globalThis = browser;
  // The page's module has no imports or exports. It may use top-level await, so it is wrapped in an async function.
  await new Script(`(async () => {${await pageProgram('own-evidence')}\n})()`).runInNewContext(browser);
  const [verdict, made] = [byId.get('verdict'), byId.get('made')];
  return {
    verdict: document.body.dataset.verdict ?? '',
    headline: verdict?.querySelector('.headline')?.textContent ?? '',
    detail: verdict?.querySelector('.detail')?.textContent ?? '',
    checks: (made?.children ?? []).map(({ dataset, children: [word, text] }) => [
      dataset.status ?? '',
      word?.textContent ?? '',
      text?.textContent ?? '',
    ]),
  };
}
