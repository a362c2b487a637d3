/* Reads an Atom feed (RFC 4287) as a strict reader of XML 1.0 does: a feed that is not well-formed is refused as a whole. */

export interface ReadEntry {
  readonly id: string;
  readonly title: string;
  readonly updated: string;
  readonly content: string;
  readonly type: string | null;
  /** Number of elements within its content. Each is markup of a post's text that was not escaped. */
  readonly children: number;
  readonly link: string | null;
}

export interface ReadFeed {
  readonly root: readonly [namespace: string | null, name: string];
  readonly entries: readonly ReadEntry[];
}

interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: Element[];
  text: string;
}

const DECLARATION = '<?xml version="1.0" encoding="utf-8"?>\n';
const TAG = /<(?<ends>\/?)(?<name>[a-z]+)(?<attributes>(?: [a-z]+="[^"<]*")*)(?<empty>\/?)>/y;
/** Text without `]]>`, which section 2.4 reserves for the end of a CDATA section. */
const TEXT = /(?:(?!\]\]>)[^<])+/y;
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
/** Characters that a document may contain (section 2.2). */
const CHARACTERS = /^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u;

export function readAtom(xml: string): ReadFeed {
  const feed = readXml(xml);
  const entries = feed.children.filter(({ name }) => name === 'entry').map(entryOf);
  return { root: [feed.attributes.xmlns ?? null, feed.name], entries };
}

function entryOf(entry: Element): ReadEntry {
  const first = (name: string) => entry.children.find(child => child.name === name);
  const textOf = (name: string) => first(name)?.text ?? '';
  const content = first('content');
  return {
    id: textOf('id'),
    title: textOf('title'),
    updated: textOf('updated'),
    content: textOf('content'),
    type: content?.attributes.type ?? null,
    children: content?.children.length ?? 0,
    link: first('link')?.attributes.href ?? null,
  };
}

/** @throws if the document is not well-formed, or uses parts of XML that our feeds never use */
function readXml(xml: string): Element {
  if (!xml.startsWith(DECLARATION) || !CHARACTERS.test(xml)) throw new Error('it is no document of XML 1.0');
  const root: Element = { name: '', attributes: {}, children: [], text: '' };
  const open = [root];
  for (let at = DECLARATION.length; at < xml.length; ) {
    const within = open.at(-1) ?? root;
    const text = matchAt(TEXT, xml, at);
    const tag = text ?? matchAt(TAG, xml, at);
    if (tag === null) throw new Error(`it is not well-formed at ${xml.slice(at, at + 40)}`);
    at += tag[0].length;
    if (text !== null) within.text += unescaped(text[0]);
    else if (tag.groups?.ends) close(open, tag.groups.name ?? '');
    else {
      const element = elementOf(tag.groups ?? {});
      within.children.push(element);
      if (!tag.groups?.empty) open.push(element);
    }
  }
  const [only, ...others] = root.children;
  if (open.length !== 1 || only === undefined || others.length > 0 || root.text.trim() !== '')
    throw new Error('it is not one whole element');
  return only;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function close(open: Element[], name: string): void {
  if (open.length < 2 || open.pop()?.name !== name) throw new Error(`</${name}> ends what was not begun`);
}

function elementOf({ name = '', attributes = '' }: Readonly<Record<string, string>>): Element {
  const pairs = [...attributes.matchAll(/ ([a-z]+)="([^"]*)"/g)];
  const named = pairs.map(([, key = '', value = '']) => [key, unescaped(value)] as const);
  return { name, attributes: Object.fromEntries(named), children: [], text: '' };
}

function unescaped(text: string): string {
  return text.replace(/&([^;]*);?/g, (whole, name: string) => {
    const character = ENTITIES[name];
    if (character === undefined || !whole.endsWith(';')) throw new Error(`${whole} is no entity`);
    return character;
  });
}
