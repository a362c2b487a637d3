import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** A supergraph has 0.1 MB. */
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

export const SUPERGRAPH = 'schema/supergraph.graphql';
export const CHANGELOG = '.github/CHANGELOG.md';

/** What was released last; or why nobody can tell, as in a clone without tags. */
export type LastRelease =
  | { readonly kind: 'found'; readonly tag: string; readonly supergraph: string; readonly changelog: string }
  | { readonly kind: 'none'; readonly why: string };

/** The newest tag from which the checkout at `root` descends, and its files. */
export async function lastRelease(root: string): Promise<LastRelease> {
  const git = (...words: string[]) =>
    run('git', words, { cwd: root, maxBuffer: OUTPUT_BYTES_MAX }).then(
      ({ stdout }) => stdout,
      () => null,
    );
  const tag = (await git('describe', '--tags', '--abbrev=0'))?.trim();
  if (!tag) return { kind: 'none', why: 'git knows no tag here' };
  const supergraph = await git('show', `${tag}:./${SUPERGRAPH}`);
  if (supergraph === null) return { kind: 'none', why: `${tag} has no ${SUPERGRAPH}` };
  return { kind: 'found', tag, supergraph, changelog: (await git('show', `${tag}:./${CHANGELOG}`)) ?? '' };
}
