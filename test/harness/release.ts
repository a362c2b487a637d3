type Release = () => Promise<unknown> | unknown;

const releases: Release[] = [];

/** Whatever a test file opens is closed here after its last test, failed or not: last opened, first closed. */
export function atEnd(release: Release): void {
  releases.push(release);
}

/** Called after each file: see each-file.ts. */
export async function releaseAll(): Promise<void> {
  const failures: unknown[] = [];
  for (const release of releases.splice(0).reverse()) {
    try {
      await release();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'not everything was released');
}
