# The Debian package `reduction`: the programs and a systemd unit; `cpack -G DEB` in a build folder
# writes it. It depends on the packages whose libraries the programs load; CUDA's runtime is linked in
# and the driver is found at run time, so one package serves machines with and without a GPU. Which GPUs
# it has code for, CMAKE_CUDA_ARCHITECTURES says: the preset `package` names all.
install(FILES LICENSE DESTINATION share/doc/reduction RENAME copyright
  COMPONENT package EXCLUDE_FROM_ALL)
install(FILES deploy/debian/reduction-server.service DESTINATION lib/systemd/system
  COMPONENT package EXCLUDE_FROM_ALL)
install(FILES deploy/debian/sysusers.conf DESTINATION lib/sysusers.d RENAME reduction.conf
  COMPONENT package EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL programs package)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "Reduction maintainers")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
  ${CMAKE_SOURCE_DIR}/deploy/debian/postinst ${CMAKE_SOURCE_DIR}/deploy/debian/prerm)
include(CPack)
