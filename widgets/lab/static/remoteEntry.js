// The container that JupyterLab finds under the package's name; a bundler would write the same.
// It is a classic script: the extension is the ES module beside it.
(() => {
  const script = /** @type {HTMLScriptElement} */ (document.currentScript);
  const base = new URL(".", script.src);
  /** @type {any} */
  const page = globalThis;
  /** @type {Record<string, Record<string, {get: () => Promise<() => any>, loaded?: number}>>} */
  let scope = {};
  page._JUPYTERLAB ??= {};
  page._JUPYTERLAB["svc-notebook"] = {
    /** @param {typeof scope} shared */
    init: (shared) => {
      scope = shared;
    },
    get: async () => {
      const { makePlugins } = await import(new URL("extension.js", base).href);
      const plugins = await makePlugins(share);
      return () => ({ __esModule: true, default: plugins });
    },
  };

  /**
   * Return a package that the application shares, or nothing where it has none: Notebook 7 shares
   * fewer than JupyterLab.
   * @param {string} name
   */
  async function share(name) {
    const versions = Object.values(scope[name] ?? {});
    const chosen = versions.find((version) => version.loaded) ?? versions[0];
    return chosen && (await chosen.get())();
  }
})();
